#include "reports/export/cluster_diagram.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/units.h"

namespace sextant::inline reports {
namespace {

struct Box {
  std::string id;
  std::string region, zone;  // empty: outside of them
  std::vector<std::string> lines;
  bool is_network = false;
};

struct Line {
  std::string from, to, label;
  bool is_other = false;  // a link that differs from its level's
};

struct Diagram {
  std::vector<Box> boxes;
  std::vector<Line> lines;
};

std::string rate_text(const LinkRate& rate) {
  std::string text = format_bytes_per_s(rate.bytes_per_s.value) + ", " + format_seconds(rate.latency_s.value);
  if (rate.capacity_bytes_per_s)
    text += ", " + format_bytes_per_s(rate.capacity_bytes_per_s->value) + " for all";
  return text;
}

std::string rate_text(const std::map<LinkLevel, LinkRate>& levels, LinkLevel level) {
  const auto found = levels.find(level);
  return found == levels.end() ? "" : rate_text(found->second);
}

class Drawing {
 public:
  explicit Drawing(const Cluster& cluster) : cluster_(cluster) {
    for (const LinkException& link : cluster.exceptions()) {
      if (link.scope != LinkScope::node && link.scope != LinkScope::device) continue;
      for (const std::string& end : {link.from, link.to}) alone_.insert(node_in(end));
    }
  }

  Diagram draw() {
    add_nodes();
    join_zones();
    join_regions();
    for (const LinkException& link : cluster_.exceptions())
      diagram_.lines.push_back({end_of(link, link.from), end_of(link, link.to), label_of(link), true});
    return std::move(diagram_);
  }

 private:
  using Key = std::vector<std::string>;

  // "node/3" is a device of a node.
  static std::string node_in(const std::string& end) { return end.substr(0, end.find('/')); }

  [[nodiscard]] Key key_of(const Node& node) const {
    return {node.region,
            node.zone,
            node.device_type,
            std::to_string(node.devices),
            node.link ? rate_text(*node.link) : "",
            node.network_bytes_per_s ? format_bytes_per_s(*node.network_bytes_per_s) : "",
            alone_.contains(node.name) ? node.name : ""};
  }

  void add_nodes() {
    std::vector<std::pair<Key, std::vector<const Node*>>> groups;
    for (const Node& node : cluster_.nodes()) {
      const Key key = key_of(node);
      auto group =
          std::find_if(groups.begin(), groups.end(), [&key](const auto& one) { return one.first == key; });
      if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
      group->second.push_back(&node);
    }
    for (const auto& [key, nodes] : groups) add_box(nodes);
  }

  void add_box(const std::vector<const Node*>& nodes) {
    const Node& node = *nodes.front();
    Box box{"n" + std::to_string(diagram_.boxes.size()), node.region, node.zone, {}};
    box.lines.push_back(nodes.size() == 1 ? node.name
                                          : std::to_string(nodes.size()) + " nodes, " + node.name + " to " +
                                                nodes.back()->name);
    box.lines.push_back(std::to_string(node.devices) + " x " + node.device_type +
                        (nodes.size() == 1 ? "" : " each"));
    const std::string inside =
        node.link ? rate_text(*node.link) : rate_text(cluster_.levels(), LinkLevel::within_node);
    if (node.devices > 1 && !inside.empty()) box.lines.push_back("inside: " + inside);
    if (node.network_bytes_per_s)
      box.lines.push_back("adapters: " + format_bytes_per_s(*node.network_bytes_per_s) + " together");
    for (const Node* one : nodes) box_of_[one->name] = box.id;
    zones_[{node.region, node.zone}].push_back(box.id);
    diagram_.boxes.push_back(std::move(box));
  }

  std::string add_network(const std::string& region, const std::string& zone, const std::string& title) {
    Box box{"net" + std::to_string(diagram_.boxes.size()), region, zone, {title}, true};
    diagram_.boxes.push_back(box);
    return box.id;
  }

  void join_zones() {
    const std::string rate = rate_text(cluster_.levels(), LinkLevel::within_zone);
    for (const auto& [place, boxes] : zones_) {
      const std::string id = add_network(place.first, place.second, "network of " + place.second);
      for (const std::string& box : boxes) diagram_.lines.push_back({box, id, rate});
      network_of_zone_[place] = id;
    }
  }

  void join_regions() {
    std::map<std::string, std::vector<std::string>> regions;
    for (const auto& [place, id] : network_of_zone_) regions[place.first].push_back(id);
    std::vector<std::string> tops;
    for (const auto& [region, zones] : regions) {
      if (zones.size() == 1) {
        network_of_region_[region] = zones.front();
      } else {
        const std::string id = add_network(region, "", "network of " + region);
        for (const std::string& zone : zones)
          diagram_.lines.push_back({zone, id, rate_text(cluster_.levels(), LinkLevel::within_region)});
        network_of_region_[region] = id;
      }
      tops.push_back(network_of_region_[region]);
    }
    if (tops.size() < 2) return;
    const std::string id = add_network("", "", "between regions");
    for (const std::string& top : tops)
      diagram_.lines.push_back({top, id, rate_text(cluster_.levels(), LinkLevel::between_regions)});
  }

  [[nodiscard]] std::string end_of(const LinkException& link, const std::string& name) const {
    if (link.scope == LinkScope::region) return network_of_region_.at(name);
    if (link.scope == LinkScope::zone) {
      for (const auto& [place, id] : network_of_zone_) {
        if (place.second == name) return id;
      }
    }
    return box_of_.at(node_in(name));
  }

  [[nodiscard]] static std::string label_of(const LinkException& link) {
    const bool names_devices = link.scope == LinkScope::device;
    return (names_devices ? link.from + (link.both_ways ? " and " : " to ") + link.to + ": " : "") +
           rate_text(link.rate) + (link.both_ways || names_devices ? "" : ", this way");
  }

  const Cluster& cluster_;
  std::set<std::string> alone_;  // nodes with links of their own
  Diagram diagram_;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> zones_;
  std::map<std::pair<std::string, std::string>, std::string> network_of_zone_;
  std::map<std::string, std::string> network_of_region_, box_of_;
};

// Text inside quotes. Mermaid has entities for what would end it, Graphviz a backslash.
std::string quoted(const std::string& text, const char* quote) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') {
      out += quote;
    } else if (c == '\\') {
      out += *quote == '#' ? "\\" : "\\\\";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "\"";
}

std::string joined(const std::vector<std::string>& lines, const char* between) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : between) + line;
  return out;
}

// Calls the functions for the regions, their zones and the boxes in both, in the order of the boxes.
template <typename Open, typename Close, typename Write>
void for_each_place(const Diagram& diagram, Open open, Close close, Write write) {
  std::map<std::string, std::map<std::string, std::vector<const Box*>>> places;
  for (const Box& box : diagram.boxes) places[box.region][box.zone].push_back(&box);
  int number = 0;
  for (const auto& [region, zones] : places) {
    if (!region.empty()) open(number++, region);
    for (const auto& [zone, boxes] : zones) {
      if (!zone.empty()) open(number++, zone);
      for (const Box* box : boxes) write(*box);
      if (!zone.empty()) close();
    }
    if (!region.empty()) close();
  }
}

}  // namespace

std::string cluster_as_mermaid(const Cluster& cluster) {
  const Diagram diagram = Drawing(cluster).draw();
  const auto text = [](const std::string& words) { return quoted(words, "#quot;"); };
  std::string out = "%% " + cluster.name() + "\nflowchart LR\n";
  for_each_place(
      diagram,
      [&](int number, const std::string& title) {
        out += "subgraph s" + std::to_string(number) + "[" + text(title) + "]\n";
      },
      [&] { out += "end\n"; },
      [&](const Box& box) {
        const std::string words = text(joined(box.lines, "<br>"));
        out += box.id + (box.is_network ? "((" + words + "))" : "[" + words + "]") + "\n";
      });
  for (const Line& line : diagram.lines) {
    const std::string label = line.label.empty() ? "" : "|" + text(line.label) + "|";
    out +=
        line.from + (line.is_other ? " -.- " : " --- ") + label + (label.empty() ? "" : " ") + line.to + "\n";
  }
  return out;
}

std::string cluster_as_graphviz(const Cluster& cluster) {
  const Diagram diagram = Drawing(cluster).draw();
  const auto text = [](const std::string& words) { return quoted(words, "\\\""); };
  std::string out = "graph " + text(cluster.name()) + " {\n  node [shape=box];\n";
  for_each_place(
      diagram,
      [&](int number, const std::string& title) {
        out += "subgraph cluster_" + std::to_string(number) + " {\n  label=" + text(title) + ";\n";
      },
      [&] { out += "}\n"; },
      [&](const Box& box) {
        std::string words;
        for (const std::string& line : box.lines) {
          const std::string quoted_line = text(line);
          words += (words.empty() ? "" : "\\n") + quoted_line.substr(1, quoted_line.size() - 2);
        }
        out += "  " + box.id + " [label=\"" + words + "\"" + (box.is_network ? ", shape=ellipse" : "") + "];\n";
      });
  for (const Line& line : diagram.lines)
    out += "  " + line.from + " -- " + line.to + " [label=" + text(line.label) +
           (line.is_other ? ", style=dashed" : "") + "];\n";
  return out + "}\n";
}

}  // namespace sextant::inline reports
