"""Requests on their way: the endpoint, its connections, pace and faults."""
