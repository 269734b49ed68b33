// Properties of every plan whatever the model: a device that is better in every number is never slower, more
// work is never faster, and no weights arrive faster than links carry them. On random plans with random
// execution options, with neutral coefficients and with those that ship.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "costmodel/terms/weight_sync.h"
#include "costmodel/timeline.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "tests/core/thoroughness.h"
#include "tests/planner/verify/random_plans.h"

namespace sextant::test {
namespace {

constexpr double kMonotoneRounding = 1e-9;  // relative

double iteration_s(const RandomCase& one) {
  return predict(one.cluster, one.workflow, one.plan, one.coefficients, one.framework).iteration_s;
}

using Change = std::function<void(RandomCase&)>;

void scale(double factor, Quantity& quantity) { quantity.value *= factor; }
Quantity scaled(double factor, Quantity quantity) {
  scale(factor, quantity);
  return quantity;
}

Change change_of_types(const std::function<void(DeviceType&)>& change) {
  return [change](RandomCase& one) {
    std::map<std::string, DeviceType> types = one.cluster.device_types();
    for (auto& [name, type] : types) change(type);
    one.cluster = Cluster(one.cluster.name(), types, one.cluster.nodes(), one.cluster.levels());
  };
}

std::vector<RandomCase> cases(std::size_t count, const Coefficients* coefficients = nullptr,
                              const std::string& framework = "") {
  std::vector<RandomCase> all;
  for (unsigned seed = 1; all.size() < count; ++seed) {
    RandomCase one = random_case(seed);
    if (coefficients != nullptr) {
      one.coefficients = *coefficients;
      one.framework = framework;
    } else {
      // Stages wait for the tokens of the one before; the appendix leaves that out.
      Coefficient waits;
      waits.id = CoefficientId::decode_serialization_weight;
      waits.value = 1;
      one.coefficients.values.push_back(waits);
    }
    try {
      (void)iteration_s(one);
      all.push_back(std::move(one));
    } catch (const Error&) {
      continue;
    }
  }
  return all;
}

// A budget of tokens makes more micro-batches of longer sequences, which may fill a pipeline better.
bool has_pipeline_with_token_budget(const RandomCase& one) {
  return std::any_of(one.plan.tasks.begin(), one.plan.tasks.end(), [](const auto& named) {
    const TaskPlan& task = named.second;
    return task.execution.micro_batch_tokens > 0 &&
           std::any_of(task.replicas.begin(), task.replicas.end(),
                       [](const Replica& replica) { return replica.pipeline_parallel() > 1; });
  });
}

// More sequences in the KV cache are more that new weights or the end of a batch stop, to be prefilled again.
bool stops_sequences(const RandomCase& one) {
  const RolloutRules& rollout = one.workflow.rollout;
  return rollout.is_interrupted || rollout.unfinished == Unfinished::resumed;
}

struct Direction {
  const char* name;
  Change change;
  bool may_be_slower;                                // else it may be faster
  bool (*is_excepted)(const RandomCase&) = nullptr;  // cases in which it may go the other way
};

const std::vector<Direction>& directions() {
  static const std::vector<Direction> all{
      {"arithmetic three times as fast", change_of_types([](DeviceType& type) {
         for (auto& [precision, rate] : type.flop_per_s) scale(3, rate);
       }),
       false},
      {"memory three times as fast",
       change_of_types([](DeviceType& type) { scale(3, type.memory_bytes_per_s); }), false},
      {"device three times as fast in all", change_of_types([](DeviceType& type) {
         for (auto& [precision, rate] : type.flop_per_s) scale(3, rate);
         scale(3, type.memory_bytes_per_s);
         if (type.host_bytes_per_s) scale(3, *type.host_bytes_per_s);
       }),
       false},
      {"half the memory", change_of_types([](DeviceType& type) { scale(0.5, type.memory_bytes); }), true},
      {"links three times as fast",
       [](RandomCase& one) {
         auto links = one.cluster.levels();
         for (auto& [level, rate] : links) {
           scale(3, rate.bytes_per_s);
           scale(1.0 / 3, rate.latency_s);
         }
         one.cluster = Cluster(one.cluster.name(), one.cluster.device_types(), one.cluster.nodes(), links);
       },
       false},
      {"links that carry a third of it together",
       [](RandomCase& one) {
         auto links = one.cluster.levels();
         for (auto& [level, rate] : links) {
           if (level == LinkLevel::within_node) continue;
           if (!rate.capacity_bytes_per_s) rate.capacity_bytes_per_s = scaled(3, rate.bytes_per_s);
           scale(1.0 / 3, *rate.capacity_bytes_per_s);
         }
         one.cluster = Cluster(one.cluster.name(), one.cluster.device_types(), one.cluster.nodes(), links);
       },
       true},
      {"half of the prompts are kept",
       [](RandomCase& one) {
         one.workflow.rollout.kept_fraction /= 2;
         if (one.workflow.rollout.started_prompts > 0) one.workflow.rollout.started_prompts *= 2;
       },
       true},
      {"a third of the KV cache",
       [](RandomCase& one) {
         for (auto& [name, task] : one.plan.tasks) task.execution.kv_cache_bytes /= 3;
       },
       true, stops_sequences},
      {"more is handed on", [](RandomCase& one) { one.workflow.data_bytes_per_token *= 3; }, true},
      {"twice the prompts", [](RandomCase& one) { one.workflow.prompts *= 2; }, true},
      {"twice the responses", [](RandomCase& one) { one.workflow.responses_per_prompt *= 2; }, true},
      {"longer prompts",
       [](RandomCase& one) {
         one.workflow.prompt_tokens = fixed_length(one.workflow.prompt_tokens.max_tokens() + 3);
       },
       true, has_pipeline_with_token_budget},
      {"longer responses",
       [](RandomCase& one) {
         one.workflow.response_tokens = fixed_length(one.workflow.response_tokens.max_tokens() + 3);
       },
       true, has_pipeline_with_token_budget},
      {"wider MLPs",
       [](RandomCase& one) {
         for (auto& [name, model] : one.workflow.models) model.intermediate *= 2;
       },
       true},
  };
  return all;
}

void expect_directions(const std::vector<RandomCase>& all) {
  std::vector<double> before(all.size());
  std::transform(all.begin(), all.end(), before.begin(), iteration_s);
  for (const Direction& direction : directions()) {
    int wrong = 0;
    double worst = 1;
    std::string example;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (direction.is_excepted && direction.is_excepted(all[i])) continue;
      RandomCase other = all[i];
      direction.change(other);
      double after_s = 0;
      try {
        after_s = iteration_s(other);
      } catch (const Error&) {
        continue;  // longer sequences may exceed a stated budget of tokens
      }
      const double before_s = before[i];
      const double ratio = direction.may_be_slower ? before_s / after_s : after_s / before_s;
      if (ratio <= 1 + kMonotoneRounding) continue;
      ++wrong;
      if (ratio > worst) {
        worst = ratio;
        example =
            std::to_string(i) + ": " + std::to_string(before_s) + " s, then " + std::to_string(after_s) + " s";
      }
    }
    EXPECT_EQ(wrong, 0) << direction.name << ", of " << all.size() << " cases, worst " << worst << ", case "
                        << example;
  }
}

TEST(Directions, HoldForNeutralCoefficients) { expect_directions(cases(cases_of<std::size_t>(1'500, 10'000))); }

TEST(Directions, HoldForTheCoefficientsThatShip) {
  for (const char* framework : {"verl", "nemo-rl", "openrlhf"}) {
    const std::filesystem::path file =
        std::filesystem::path(SEXTANT_SOURCE_DIR) / "data/coefficients" / (std::string(framework) + ".json");
    if (!std::filesystem::exists(file)) continue;
    SCOPED_TRACE(framework);
    const auto coefficients = load_document<Coefficients>(file).content;
    expect_directions(cases(cases_of<std::size_t>(100, 300), &coefficients, framework));
  }
}

// Bytes that devices of a node without trainers hold of one copy of the weights, in the replica that has most
// of them there.
double bytes_that_enter(const RandomCase& one, const TaskWork& generation, double bytes, NodeId node) {
  double maximum = 0;
  for (const Replica& replica : generation.plan->replicas) {
    double held = 0;
    for (const Stage& stage : replica.stages) {
      const auto there = std::count_if(stage.devices.begin(), stage.devices.end(),
                                       [&](DeviceId device) { return one.cluster.node_of(device) == node; });
      held += static_cast<double>(there) / stage.width() * stage.layers;
    }
    maximum = std::max(maximum, held / generation.model->layers * bytes);
  }
  return maximum;
}

// Whether each device of a replica holds an equal part of its layers.
bool holds_equal_parts(const Replica& replica) {
  const auto layers_of = [](const Stage& stage) { return static_cast<double>(stage.layers) / stage.width(); };
  return std::all_of(replica.stages.begin(), replica.stages.end(),
                     [&](const Stage& stage) { return layers_of(stage) == layers_of(replica.stages.front()); });
}

// Links of the generator carry at most 10 bytes/s between nodes, and each device has one of them.
TEST(Cuts, WeightsEnterANodeNoFasterThanItsLinksCarryThem) {
  int cuts = 0;
  for (RandomCase& one : cases(2000)) {
    if (!one.workflow.has_weight_sync()) continue;
    for (int method = 0; method <= static_cast<int>(WeightSyncMethod::per_replica); ++method) {
      one.plan.weight_sync.method = static_cast<WeightSyncMethod>(method);
      const Hardware<double> hardware(one.cluster);
      const Problem<double> problem(one.workflow, one.plan, hardware,
                                    resolve(one.coefficients, hardware, one.framework));
      const TaskWork training = problem.work(one.workflow.actor_training()),
                     generation = problem.work(one.workflow.actor_generation());
      // Layers alone: the ends lie on some stage.
      const Model& model = *training.model;
      if (training.execution().lora_rank > 0 || model.vocabulary > 0) continue;
      // The appendix gathers an equal part over each device of a replica, whatever its stage holds.
      const bool is_appendix = one.plan.weight_sync.method == WeightSyncMethod::per_replica;
      const std::vector<Replica>& replicas = generation.plan->replicas;
      const bool is_equal = std::all_of(replicas.begin(), replicas.end(), holds_equal_parts);
      if (is_appendix && (!is_equal || share_a_device(training.devices, generation.devices))) continue;
      const double time_s = terms::weight_sync_s(problem, training, generation);
      const double bytes = terms::sent_bytes(problem, training);
      for (int n = 0; n < static_cast<int>(one.cluster.nodes().size()); ++n) {
        const auto on_node = [&](const std::set<DeviceId>& devices) {
          return std::count_if(devices.begin(), devices.end(),
                               [&](DeviceId device) { return one.cluster.node_of(device) == NodeId{n}; });
        };
        const auto receivers = on_node(generation.devices);
        if (receivers == 0 || on_node(training.devices) > 0) continue;
        constexpr double kBytesPerS = 10;
        const double bound_of_all_s =
            bytes_that_enter(one, generation, bytes, NodeId{n}) / (kBytesPerS * static_cast<double>(receivers));
        EXPECT_GE(time_s, bound_of_all_s * (1 - kMonotoneRounding)) << "method " << method;
        ++cuts;
      }
    }
  }
  EXPECT_GT(cuts, 100);
}

}  // namespace
}  // namespace sextant::test
