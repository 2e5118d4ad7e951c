"""Two public yardsticks of demands: COMPINT's protocol and compaction-conformance-kit."""
