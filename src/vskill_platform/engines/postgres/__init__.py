"""The PostgreSQL engine: one database for records, queues, catalog and events, for any number of processes and machines."""

from vskill_platform.engines.postgres.engine import PostgresEngine, open_postgres

__all__ = ["PostgresEngine", "open_postgres"]
