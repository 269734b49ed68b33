"""Sailor's plans and profiles of layers: data/public/sailor."""

from documents import Facts, Runs
from sailor_layers import add_layers
from sailor_plans import add_plans
from sailor_tables import Tables


def convert():
    runs, tables = Runs(), Tables(Facts())
    add_plans(runs, tables)
    add_layers(runs, tables)
    return runs
