"""An HTTP client of the gateway for the command line and the tests."""
