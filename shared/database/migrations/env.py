"""Runs the migrations on the connection that `shared.database.migrate` hands over."""

from alembic import context

from shared.database.tables.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata(),
    transactional_ddl=True,
    transaction_per_migration=False,
)

with context.begin_transaction():
    context.run_migrations()
