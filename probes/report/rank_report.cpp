#include "probes/report/rank_report.h"

#include <span>

#include "core/json_value.h"

namespace sextant::inline probes {

RankReport RankReport::parse(const JsonView& view) {
  RankReport report;
  report.rank = view.required("rank").count();
  report.host = view.required("host").text();
  report.cpu_model = view.required("cpu_model").text();
  if (const auto cpu = view.optional("cpu")) report.cpu = cpu->count();
  if (const auto gpu = view.optional("gpu_model")) report.gpu_model = gpu->text();
  report.gemm_library = view.required("gemm_library").text();
  report.memory_bytes = view.required("memory_bytes").non_negative();
  if (const auto host = view.optional("host_memory_bytes")) report.host_memory_bytes = host->positive();
  report.results = parse_results(view.required("results"));
  for (const JsonView& warning : view.required("warnings").items()) report.warnings.push_back(warning.text());
  for (const auto& [name, value] : view.required("settings").members())
    report.settings[name] = value.any_text();
  if (const auto place = view.optional("place")) report.place = GpuPlace::parse(*place);
  return report;
}

Json RankReport::to_json() const {
  Json json = {{"rank", rank}, {"host", host}, {"cpu_model", cpu_model}};
  if (cpu) json["cpu"] = *cpu;
  if (is_gpu()) json["gpu_model"] = gpu_model;
  json["gemm_library"] = gemm_library;
  json["memory_bytes"] = memory_bytes;
  if (host_memory_bytes > 0) json["host_memory_bytes"] = host_memory_bytes;
  json["results"] = sextant::to_json(results);
  json["warnings"] = warnings;
  json["settings"] = settings;
  if (place) json["place"] = place->to_json();
  return json;
}

std::vector<std::string> exchange_texts(Communicator& world, const std::string& mine) {
  const double length = static_cast<double>(mine.size());
  std::vector<double> lengths(static_cast<std::size_t>(world.size()));
  world.all_gather(std::span(&length, 1), std::span(lengths));
  std::vector<std::string> texts;
  for (int rank = 0; rank < world.size(); ++rank) {
    std::string text = mine;
    text.resize(static_cast<std::size_t>(lengths[static_cast<std::size_t>(rank)]));
    world.broadcast(std::as_writable_bytes(std::span(text)), rank);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<ProbeResult> exchange_results(Communicator& world, const std::vector<ProbeResult>& mine) {
  std::vector<ProbeResult> all;
  for (const std::string& text : exchange_texts(world, sextant::to_json(mine).dump())) {
    const Json of_rank = parse_json(text);
    append(all, parse_results(JsonView(of_rank)));
  }
  return all;
}

}  // namespace sextant::inline probes
