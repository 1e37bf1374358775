"""Bad documents and bad messages, each followed by good documents: the bad ones end, the good ones succeed."""
