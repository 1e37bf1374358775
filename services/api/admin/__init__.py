"""The admin API: access, accounts, tokens, and spaces taken out of use."""
