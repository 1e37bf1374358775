"""The api's side of the broker: is it there, is there room, and publishing what was committed."""
