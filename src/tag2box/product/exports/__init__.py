"""Boxes for other tools: one small module per format, and one way to write them all."""

from tag2box.product.exports.writing import EXPORTS, Export, export_run

__all__ = ["EXPORTS", "Export", "export_run"]
