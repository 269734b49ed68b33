"""The tables that Sailor's plans and profiles refer to: GPU types (rates come from the facts), models, and links from
bandwidth curves."""

import copy
import math

from documents import PRECISIONS, quantity, read_csv, read_json, whole_model

CURVE_NOTE = "two-parameter fit to the source's curve of NCCL send and receive"


def _messages(curve, pairs):
    """Bytes of a message and the time of one pair to send it: bandwidth = quadratic x^2 + linear x + constant with
    x = log2(bytes / 1e6), at most the largest, of all pairs that send at once."""
    largest = 1024.0 ** 3  # bytes that the source measured up to
    near_zero = 0.02  # next to its zero a parabola says nothing about time
    top = float(curve["max_bandwidth_bytes_per_s"])
    quadratic, linear, constant = (float(curve[name + "_bytes_per_s"]) for name in ("quadratic", "linear", "constant"))
    size = float(curve["curve_positive_from_bytes"])
    while size <= largest:
        x = math.log2(size / 1e6)
        rate = min(quadratic * x * x + linear * x + constant, top)
        if rate > near_zero * top:
            yield size, size * pairs / rate
        size *= 2


def fit_link(curve, pairs):
    """Latency a and seconds a byte c of one pair's link, whose time for m bytes is nearest to the curve's: they
    minimise the sum of ((a + c m) / t - 1)^2 over the curve's positive range up to 1 GiB."""
    aa = ac = cc = a1 = c1 = 0.0
    for size, time_s in _messages(curve, pairs):
        a, c = 1 / time_s, size / time_s
        aa, ac, cc, a1, c1 = aa + a * a, ac + a * c, cc + c * c, a1 + a, c1 + c
    latency_s = max(0.0, (a1 * cc - c1 * ac) / (aa * cc - ac * ac))
    s_per_byte = (c1 - latency_s * ac) / cc
    return {"latency_s": quantity(latency_s, "measured", CURVE_NOTE),
            "bytes_per_s": quantity(1 / s_per_byte, "measured", CURVE_NOTE)}


class Tables:
    def __init__(self, facts):
        self.gpus, self.models, self._within, self._between = {}, {}, {}, {}
        for row in read_csv("sailor/gpu_types.csv"):
            if facts.has_gpu(row["gpu_type"]):
                self.gpus[row["gpu_type"]] = self._gpu(row, facts.gpu(row["gpu_type"]))
        # Zones repeat the curves without one, so the first of several stands. Unequal numbers of GPUs at the ends
        # repeat the curve of the smaller.
        for row in read_csv("sailor/network_curves.csv"):
            gpus = int(row["send_gpu_count"])
            ends = (row["send_gpu_type"], row["receive_gpu_type"], gpus)
            if gpus == int(row["receive_gpu_count"]) and row["scope"] == "intra_node":
                self._within.setdefault(ends, (row, max(1, gpus // 2)))
            elif gpus == int(row["receive_gpu_count"]) and row["scope"] == "inter_node":
                self._between.setdefault(ends, (row, gpus))
        for name, shape in read_json("sailor/models.json")["models"].items():
            self.models[name] = whole_model({
                "name": f"{name} (as Sailor profiled it)", "layers": shape["layers"], "hidden": shape["hidden"],
                "intermediate": shape["mlp_width"], "heads": shape["heads"], "gated_mlp": shape["gated_mlp"],
                "vocabulary": shape["vocab_entries_padded"], "tied_embeddings": True})
        self.shapes = read_json("sailor/models.json")["models"]

    @staticmethod
    def _gpu(row, known):
        gpu = copy.deepcopy(known)
        gpu.per_node = int(row["gpus_per_node"])
        gpu.pairs_have_links = row["links_within_node"] == "pairs"
        rates = gpu.type["flop_per_s"]
        rates.setdefault("tf32", quantity(rates["fp32"]["value"], "assumed", "no TF32 units: fp32 runs"))
        gpu.type["flop_per_s"] = {precision: rates[precision] for precision in PRECISIONS if precision in rates}
        gpu.type["memory_bytes"] = quantity(row["memory_bytes"], "datasheet", "Sailor's configuration")
        return gpu

    def within_node(self, gpu_type, devices):
        """The link between two of `devices` devices of a node that form one group. The curve with the most devices up
        to that number stands for larger groups."""
        for count in range(devices, 1, -1):
            if (gpu_type, gpu_type, count) not in self._within:
                continue
            link = fit_link(*self._within[gpu_type, gpu_type, count])
            if self.gpus[gpu_type].pairs_have_links and devices > 2:
                link["bytes_per_s"]["value"] *= devices - 1
                link["bytes_per_s"]["note"] = (f"{CURVE_NOTE}, times {devices - 1}: every pair has links of its own, "
                                               "and a ring uses all of a device's")
            return link
        raise ValueError(f"no curve of the links within a node of {gpu_type}")

    def between_nodes(self, sender, receiver):
        """The link from one device of a node to one of another; of the other direction where only that has a curve."""
        for ends in ((sender, receiver, 1), (receiver, sender, 1)):
            if ends in self._between:
                return fit_link(*self._between[ends])
        raise ValueError(f"no curve of the network between {sender} and {receiver}")

    def network_bytes_per_s(self, sender, receiver, devices):
        """From `devices` of a node to as many of another, together; fewer if no curve has as many."""
        for count in range(devices, 0, -1):
            if (sender, receiver, count) in self._between:
                return count * fit_link(*self._between[sender, receiver, count])["bytes_per_s"]["value"]
        raise ValueError(f"no curve of the network from {sender} to {receiver}")
