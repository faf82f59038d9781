"""Engines that decode, behind one small interface."""
