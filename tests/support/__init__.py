"""What several kinds of tests stand on: servers started on this machine."""
