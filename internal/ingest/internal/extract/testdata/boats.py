"""Boats of the harbor."""
import os


class Boat:
    def name(self):

        return "b"


def main():
    print(os.name)
