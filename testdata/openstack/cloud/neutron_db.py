"""neutron_db.py URL makes neutron's tables from its models, as its own unit tests do: its migrations need more than SQLite can."""
import sys

import sqlalchemy
from neutron.db.migration.models import head

head.get_metadata().create_all(sqlalchemy.create_engine(sys.argv[1]))
