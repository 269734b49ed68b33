// HetRL's Appendix B alone, in the paper's symbols and order: the cost model without any effect of our own.
//
// This is the form to read first. Predictions use costmodel/terms/, which adds effects to these formulas; with
// neutral coefficients, a vocabulary of zero and the weight sync method per_replica the terms equal this file,
// which tests/costmodel/appendix_test.cpp checks on random clusters and layouts to 1e-12.
//
// | symbol              | here                          | in the terms                               | unit     | paper |
// |---------------------|-------------------------------|--------------------------------------------|----------|-------|
// | alpha, beta         | Topology::alpha, beta         | latency_s, bytes_per_s of Hardware         | s, B/s   | B.1   |
// | comp_d, hbm_d       | Topology::comp, hbm           | flop_per_s, memory_bytes_per_s             | FLOP/s, B/s | B.1 |
// | h1, h2, nl          | Llm::h1, h2, nl               | Model::hidden, intermediate, layers        | 1        | B.1   |
// | nl_j, TP_j          | Stage::layers, devices.size() | StageOfTask                                | 1        | B.1   |
// | seq_in, seq_out     | Llm::seq_in, seq_out          | TaskWork: prompt and response tokens       | tokens   | B.1   |
// | mbs, nm, dbs        | Batch::mbs, nm, dbs           | ReplicaWork: sequences, micro-batches, decode batch | 1 | B.1 |
// | B_BF16              | kBytes                        | bytes_of(Precision)                        | B        | B.1   |
// | C_tp, C_pp, C_dp    | c_tp, c_pp, c_dp              | tensor_parallel.h, pipeline_parallel.h, data_parallel.h | s | B.2 |
// | C_comp, C_hbm       | c_comp, c_hbm                 | compute.h, decode.h                        | s        | B.2   |
// | C_bubble            | c_bubble                      | bubble.h                                   | s        | B.2   |
// | C_reshard, C_sync   | c_reshard, c_sync             | weight_sync.h                              | s        | B.2   |
// | Psi                 | psi                           | task.h                                     | s        | B.3   |
// | Phi, eta            | phi                           | iteration.h                                | s        | B.4   |
//
// Departures from the letter: without recomputation training does 4 all-reduces a layer, where the paper prints
// only the 2 of forward passes and the 6 of recomputation; the last stage sends nothing to a next one.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::appendix {

inline constexpr double kBytes = 2;  // B_BF16

// G_D of B.1. alpha and beta by device pair, comp and hbm by device.
struct Topology {
  std::vector<std::vector<double>> alpha, beta;
  std::vector<double> comp, hbm;

  [[nodiscard]] double transfer_s(DeviceId d, DeviceId e, double volume) const {
    const auto from = static_cast<std::size_t>(d.value), to = static_cast<std::size_t>(e.value);
    return d == e ? 0 : alpha[from][to] + volume / beta[from][to];
  }
};

// The model of a task and its lengths. Generation decodes seq_out tokens and computes with seq_out = 0 (B.2).
struct Llm {
  double h1 = 0, h2 = 0, nl = 0, seq_in = 0, seq_out = 0;

  [[nodiscard]] double layer_parameters() const { return 4 * h1 * h1 + 3 * h1 * h2; }
  [[nodiscard]] double layer_flop(double seq) const {
    return 2 * 4 * seq * h1 * h1 + 2 * 2 * seq * seq * h1 + 2 * 3 * seq * h1 * h2;
  }
};

// The work of each replica: nm micro-batches of mbs sequences, dbs sequences decoded at a time.
struct Batch {
  std::vector<double> nm, mbs, dbs;
};

// min over ring graphs of max over their edges of alpha + volume / beta. 0 for one device. Tries every order.
[[nodiscard]] inline double ring(const Topology& g, std::vector<DeviceId> devices, double volume) {
  if (devices.size() < 2) return 0;
  std::sort(devices.begin(), devices.end());
  double best = 1e300;
  do {
    double slowest = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      slowest = std::max(slowest, g.transfer_s(devices[i], devices[(i + 1) % devices.size()], volume));
    }
    best = std::min(best, slowest);
  } while (std::next_permutation(devices.begin() + 1, devices.end()));
  return best;
}

// min over a device of one set and a device of the other.
[[nodiscard]] inline double fastest_link(const Topology& g, const std::vector<DeviceId>& from,
                                         const std::vector<DeviceId>& to, double volume) {
  double best = 1e300;
  for (const DeviceId d : from) {
    for (const DeviceId e : to) best = std::min(best, g.transfer_s(d, e, volume));
  }
  return best;
}

// The costs of one task under a plan. i: replica, j: stage, k: tensor shard.
class TaskCosts {
 public:
  TaskCosts(const Topology& g, const Llm& llm, TaskKind kind, const TaskPlan& plan, const Batch& batch)
      : g_(g), llm_(llm), kind_(kind), plan_(plan), batch_(batch) {}

  // B.2, tensor parallelism.
  [[nodiscard]] double c_tp(std::size_t i, std::size_t j) const {
    const double tp = this->tp(i, j);
    const double cv_tp = kBytes * batch_.mbs[i] * (llm_.seq_in + llm_.seq_out) * llm_.h1 * 2 * (tp - 1) / tp;
    const double all_reduces = kind_ != TaskKind::training ? 2 : plan_.recompute == Recompute::full ? 6 : 4;
    return all_reduces * batch_.nm[i] * stage(i, j).layers * ring(g_, stage(i, j).devices, cv_tp);
  }

  // B.2, pipeline parallelism.
  [[nodiscard]] double c_pp(std::size_t i, std::size_t j) const {
    if (j + 1 == plan_.replicas[i].stages.size()) return 0;
    const double cv_pp = kBytes * batch_.mbs[i] * (llm_.seq_in + llm_.seq_out) * llm_.h1;
    const double directions = kind_ == TaskKind::training ? 2 : 1;
    return directions * batch_.nm[i] * fastest_link(g_, stage(i, j).devices, stage(i, j + 1).devices, cv_pp);
  }

  // B.2, data parallelism, for replicas with the same stages and tensor parallelism.
  [[nodiscard]] double c_dp() const {
    const double n = static_cast<double>(plan_.replicas.size());
    double slowest = 0;
    for (std::size_t j = 0; j < plan_.replicas[0].stages.size(); ++j) {
      const double cv_dp = kBytes * stage(0, j).layers * llm_.layer_parameters() * 2 * (n - 1) / (n * tp(0, j));
      for (std::size_t k = 0; k < stage(0, j).devices.size(); ++k) {
        std::vector<DeviceId> group;
        for (std::size_t i = 0; i < plan_.replicas.size(); ++i) group.push_back(stage(i, j).devices[k]);
        slowest = std::max(slowest, ring(g_, group, cv_dp));
      }
    }
    return slowest;
  }

  // B.2, computation.
  [[nodiscard]] double c_comp(std::size_t i, std::size_t j) const {
    const double seq = kind_ == TaskKind::generation ? llm_.seq_in : llm_.seq_in + llm_.seq_out;
    const double passes = kind_ == TaskKind::training ? 3 : 1;
    double slowest = 0;
    for (const DeviceId d : stage(i, j).devices) {
      slowest =
          std::max(slowest, passes * batch_.nm[i] * batch_.mbs[i] * stage(i, j).layers * llm_.layer_flop(seq) /
                                (g_.comp[static_cast<std::size_t>(d.value)] * tp(i, j)));
    }
    return slowest;
  }

  // B.2, pipeline bubbles.
  [[nodiscard]] double c_bubble(std::size_t i) const {
    double sum = 0;
    for (std::size_t j = 1; j < plan_.replicas[i].stages.size(); ++j) {
      sum += (c_comp(i, j) + c_tp(i, j) + c_pp(i, j)) / batch_.nm[i];
    }
    return sum;
  }

  // B.2, decoding.
  [[nodiscard]] double c_hbm(std::size_t i, std::size_t j) const {
    double slowest = 0;
    for (const DeviceId d : stage(i, j).devices) {
      slowest = std::max(slowest, llm_.seq_out * batch_.nm[i] * batch_.mbs[i] * kBytes * stage(i, j).layers *
                                      llm_.layer_parameters() /
                                      (batch_.dbs[i] * g_.hbm[static_cast<std::size_t>(d.value)] * tp(i, j)));
    }
    return slowest;
  }

  // B.3.
  [[nodiscard]] double psi() const {
    double slowest = 0;
    for (std::size_t i = 0; i < plan_.replicas.size(); ++i) {
      double stage_s = 0;
      for (std::size_t j = 0; j < plan_.replicas[i].stages.size(); ++j) {
        const double decoding = kind_ == TaskKind::generation ? c_hbm(i, j) : 0;
        stage_s = std::max(stage_s, c_comp(i, j) + c_tp(i, j) + c_pp(i, j) + decoding);
      }
      slowest = std::max(slowest, stage_s + (kind_ == TaskKind::training ? c_bubble(i) : 0));
    }
    return slowest + (kind_ == TaskKind::training ? c_dp() : 0);
  }

 private:
  [[nodiscard]] const Stage& stage(std::size_t i, std::size_t j) const { return plan_.replicas[i].stages[j]; }
  [[nodiscard]] double tp(std::size_t i, std::size_t j) const {
    return static_cast<double>(stage(i, j).devices.size());
  }

  const Topology& g_;
  const Llm& llm_;
  TaskKind kind_;
  const TaskPlan& plan_;
  const Batch& batch_;
};

// B.2: C_all-gather of a replica, and C_broadcast, which has the same volume.
[[nodiscard]] inline double c_all_gather(const Topology& g, const Llm& llm, const Replica& replica) {
  const double n = static_cast<double>(replica.devices().size());
  return ring(g, replica.devices(), kBytes * llm.nl * llm.layer_parameters() * (n - 1) / n);
}

// B.2, resharding.
[[nodiscard]] inline double c_reshard(const Topology& g, const Llm& llm, const TaskPlan& training) {
  double slowest = 0;
  for (const Replica& replica : training.replicas) slowest = std::max(slowest, c_all_gather(g, llm, replica));
  return slowest;
}

// B.2, synchronization. "The point-to-point communication cost for G_D_i'^t'": each replica of generation gets
// its copy from the nearest device of training, and the slowest of these transfers counts.
[[nodiscard]] inline double c_sync(const Topology& g, const Llm& llm, const TaskPlan& training,
                                   const TaskPlan& generation) {
  double gather = 1e300, broadcast = 0, slowest_p2p = 0;
  for (const Replica& replica : training.replicas) gather = std::min(gather, c_all_gather(g, llm, replica));
  for (const Replica& replica : generation.replicas) {
    broadcast = std::max(broadcast, c_all_gather(g, llm, replica));
    double p2p = 1e300;
    for (const Replica& source : training.replicas) {
      p2p = std::min(
          p2p, fastest_link(g, source.devices(), replica.devices(), kBytes * llm.nl * llm.layer_parameters()));
    }
    slowest_p2p = std::max(slowest_p2p, p2p);
  }
  return gather + broadcast + slowest_p2p;
}

// B.4: the time of independent tasks. eta: 0 one after the other, 1 all at the same time.
[[nodiscard]] inline double phi(const std::vector<double>& task_s, double eta) {
  const double longest = *std::max_element(task_s.begin(), task_s.end());
  return longest + (1 - eta) * (std::accumulate(task_s.begin(), task_s.end(), 0.0) - longest);
}

}  // namespace sextant::appendix
