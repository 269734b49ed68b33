#include "reports/content/anonymous.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/json_value.h"

namespace sextant::inline reports {
namespace {

class Names {
 public:
  explicit Names(const ReportInput& input) {
    if (input.cluster) {
      add(input.cluster->content.name(), "cluster");
      for (const Node& node : input.cluster->content.nodes()) {
        add_numbered(node.name, "node", nodes_);
        add_numbered(node.region, "region", regions_);
        add_numbered(node.zone, "zone", zones_);
      }
    }
    if (input.prediction) {
      add(input.prediction->content.cluster, "cluster");
      for (const HostMemory& host : input.prediction->content.host_memory)
        add_numbered(host.node, "node", nodes_);
    }
    const auto add_source = [this](const auto& document) {
      if (!document) return;
      add(document->provenance.host, "host");
      add(document->provenance.command, "(left out)");
    };
    add_source(input.cluster);
    add_source(input.runs);
    add_source(input.coefficients);
    add_source(input.accuracy);
    add_source(input.plan);
    add_source(input.prediction);
    add_source(input.search);
    add_source(input.explanation);
    add_source(input.placement);
    add_source(input.simulation);
    // Longer names first: one may be the beginning of another.
    std::stable_sort(names_.begin(), names_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }

  [[nodiscard]] std::string replaced(const std::string& text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto name = at > 0 && is_of_name(text[at - 1]) ? names_.end() : name_at(text, at);
      if (name == names_.end()) {
        out += text[at++];
        continue;
      }
      out += name->second;
      at += name->first.size();
    }
    return out;
  }

 private:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  static bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  }

  [[nodiscard]] Pairs::const_iterator name_at(const std::string& text, std::size_t at) const {
    return std::find_if(names_.begin(), names_.end(), [&](const auto& name) {
      const std::size_t end = at + name.first.size();
      return text.compare(at, name.first.size(), name.first) == 0 &&
             (end == text.size() || !is_of_name(text[end]));
    });
  }

  void add(const std::string& name, const std::string& shown) {
    // A probe's own name of the place where it ran says nothing.
    if (name.empty() || name == "local" || known_[name]) return;
    known_[name] = true;
    names_.emplace_back(name, shown);
  }
  void add_numbered(const std::string& name, const char* kind, std::map<std::string, int>& numbers) {
    const int number = numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second;
    add(name, kind + std::to_string(number));
  }

  std::map<std::string, int> nodes_, regions_, zones_;
  std::map<std::string, bool> known_;
  Pairs names_;
};

void replace_in(const Names& names, std::string& text) { text = names.replaced(text); }

void replace_in(const Names& names, Json& value) {
  if (value.is_string()) {
    value = names.replaced(value.get<std::string>());
  } else if (value.is_structured()) {
    for (Json& item : value) replace_in(names, item);
  }
}

void replace_in(const Names& names, Cell& cell) {
  replace_in(names, cell.text);
  replace_in(names, cell.value);
}

void replace_in(const Names& names, Text& text) { replace_in(names, text.text); }
void replace_in(const Names& names, Warning& warning) { replace_in(names, warning.text); }
void replace_in(const Names& names, LeadText& lead) { replace_in(names, lead.text); }

void replace_in(const Names& names, FactList& facts) {
  for (Fact& fact : facts.facts) {
    replace_in(names, fact.value);
    replace_in(names, fact.detail);
  }
}

void replace_in(const Names& names, Table& table) {
  for (std::vector<Cell>& row : table.rows) {
    for (Cell& cell : row) replace_in(names, cell);
  }
}

void replace_in(const Names& names, Chart& chart) { replace_in(names, chart.spec); }

void replace_in(const Names& names, BarList& list) {
  for (Bar& bar : list.bars) {
    replace_in(names, bar.label);
    replace_in(names, bar.detail);
  }
}

void replace_in(const Names& names, MachineMap& map) {
  for (Machines& machines : map.machines) {
    replace_in(names, machines.label);
    replace_in(names, machines.detail);
  }
}

}  // namespace

void make_anonymous(Content& content, const ReportInput& input) {
  const Names names(input);
  for (Section& section : content.sections) {
    for (Block& block : section.blocks) {
      std::visit([&](auto& each) { replace_in(names, each); }, block);
    }
  }
}

}  // namespace sextant::inline reports
