"""The page language, and properties of all pages: numbers, tables, citations, the ledger."""
