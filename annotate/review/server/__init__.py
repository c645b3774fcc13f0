"""The review server: a real Argilla without Docker, Elasticsearch or Redis."""

from .access import WORKSPACE, Access, find_access
from .cache import cache_folder
from .environment import ARGILLA, environment_python
from .home import FOLDER, ServerHome
from .launch import Account, Server, require_free, review_server
from .options import PASSWORD_VARIABLE, ServeOptions
from .running import Running, is_taken, running, stop
from .standing import DatasetStanding, Standing, standing

__all__ = [
    "ARGILLA",
    "FOLDER",
    "PASSWORD_VARIABLE",
    "WORKSPACE",
    "Access",
    "Account",
    "DatasetStanding",
    "Running",
    "ServeOptions",
    "Server",
    "ServerHome",
    "Standing",
    "cache_folder",
    "environment_python",
    "find_access",
    "is_taken",
    "require_free",
    "review_server",
    "running",
    "standing",
    "stop",
]
