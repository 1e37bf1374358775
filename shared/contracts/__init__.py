"""Words on the wire: enums, ids, HTTP models, commands and events. pydantic and stdlib only."""
