"""The words, rules and adapters that every Knowgate service builds on."""
