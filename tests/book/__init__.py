"""The page language, and what holds of all pages: numbers, tables, citations, the ledger."""
