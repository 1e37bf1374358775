"""NATS JetStream: streams, subjects, codec, publisher, broker factory, watchdog."""
