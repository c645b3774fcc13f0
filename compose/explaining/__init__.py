"""Why items are in or out, and how two compositions differ."""
