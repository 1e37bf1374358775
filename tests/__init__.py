"""The tests, by what they need: nothing (unit, property, contract, architecture), servers, or all of it (e2e)."""
