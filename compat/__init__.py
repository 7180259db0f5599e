"""The conformance kit: recorded runs of the real legacy tool, reports, and the laboratory that makes them."""
