"""Who is calling: service tokens, user assertions, sealed citations and links."""
