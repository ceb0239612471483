"""What the ``explorer`` command can do: one module each, with its options (``add``) and what it does (``run``)."""
