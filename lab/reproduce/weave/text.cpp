#include "lab/reproduce/weave/weave.h"

namespace sextant::weave {

// NOLINTBEGIN(bugprone-suspicious-missing-comma): sentences of several lines.
std::vector<std::string> assumptions() {
  return {
      "Pools: nodes of eight H20 for rollouts and of eight H800 for training at the prices of Table 1; hosts "
      "of 2 TB.",
      "Iterations alone: GRPO with a reference model, 256 responses of at most 8,192 tokens with a mean of 40 "
      "% of that, "
      "or all of 8,192; tensor parallelism of Table 2; activations computed again. Types B, D and E are not "
      "predicted: "
      "numbers of turns and times of environments are not printed.",
      "Micro-benchmarks: all jobs of one have the printed iteration alone. Rollouts of D and E take 2.5 and 6 "
      "times as "
      "long as their training, as printed; those of A and C as long as their training, which is not printed. "
      "Weight "
      "sync is left out, as the paper's T_solo leaves it out.",
      "Warm starts: the states of Table 2 over the hosts' links at 64 GB/s for each GPU. Cold starts: 135 s "
      "for each phase.",
      "veRL: a job generates on its training nodes, slower by the ratio of memory bandwidths of Table 1, on as "
      "many as "
      "keep its promise. Gavel+: a job has a share of the time of whole nodes, one over its allowed slowdown.",
      "The trace of section 6.4 is not public. Ours has 200 jobs of 27.9 hours on average in 14 days, promises "
      "drawn "
      "from (1, 2), rollouts of 50 to 900 s (section 3.2), half of them 2.5 to 6 times as long as the training "
      "and half "
      "about as long; 9.3 % of the jobs have two nodes of each pool, which gives the printed $0.94k an hour; "
      "arrivals "
      "swing from week to week, which gives the printed peak. Figures are means over ten such traces, with "
      "drift over three.",
      "Figures 15 and 20: 300 jobs in 580 hours of Table 6, over three draws; the arrivals of the Philly trace "
      "are "
      "Poisson here. The optimum regroups all jobs at every event; states of more than 12 jobs are left out.",
      "Drift: the templates are a picture; lengths are half as long again at the end of a run at 1.0x.",
      "Table 5 is measured on the machine that ran this."};
}

std::vector<Cause> causes() {
  std::vector<Cause> all;
  add_cause(all,
            {"iteration of a job alone on its own pools", "iteration of a job alone, all phases on H800",
             "iteration of a job alone on its own pools, every response as long as allowed",
             "iteration of a job alone, all phases on H800, every response as long as allowed"},
            "the paper prints no lengths but the maximum. With every response as long as allowed the 32B job "
            "takes 555 instead of 370 s (printed 575 s), and the 7B job 212 instead of 140 s (258 s).");
  add_cause(all,
            {"weight sync, two nodes each: veRL over topology-aware",
             "weight sync, two nodes each: a copy for each node over topology-aware"},
            "between two nodes each, veRL sends neither a copy to every GPU (15 times ours) nor one to every "
            "node (2.0 "
            "times); the printed ratio is that of 2.6 to 2.8 copies.");
  add_cause(
      all, {"host memory of a suspended phase on a node"},
      "in addition to weights, gradients and optimizer states, Table 2 has 19 to 31 GB on each GPU for "
      "rollouts "
      "of any size, which does not grow with the model; section 3.2 names dataset pipelines and environment "
      "states, without sizes.");
  add_cause(all, {"cold start over warm start"},
            "our warm start is the copy alone, 1.0 s for the largest state; the printed ratio leaves 1.9 s, so "
            "that the "
            "link runs at half of its rate or waking up takes 0.9 s.");
  add_cause(all, {"throughput lost to cold starts"},
            "135 s is the longest cold start of Figure 4; with 107 s for each phase (a) loses 45 %.");
  add_cause(all,
            {"throughput at the same cost: WEAVE over veRL",
             "throughput at the same cost: WEAVE over veRL at the ideal of Table 4",
             "throughput at the same cost: WEAVE over Gavel+"},
            "an H800 generates 1.19 times slower than an H20 here, as the bandwidths of Table 1 say, and 7 to "
            "10 % faster "
            "in Table 4; with Table 4's times (b) gains 1.36 times, as printed (1.35).");
  add_cause(all, {"throughput at the same cost: WEAVE over solo disaggregation"},
            "in (c) C and a D roll out on the same node, which is then busy for longer than C takes alone; "
            "with a rollout "
            "of 0.8 times the training the iteration is the printed one and the gain 1.71.");
  add_cause(all, {"throughput with migration of long tails over without"},
            "where decode takes equally long for any batch, the heads of rollouts are all that the node needs; "
            "the gain "
            "depends on how decode slows down with the batch, which is not printed.");
  add_cause(
      all,
      {"cost: solo disaggregation over Algorithm 1 as printed", "cost: solo disaggregation over our placement",
       "cost: solo disaggregation over our placement with regrouping",
       "cost: veRL over Algorithm 1 as printed"},
      "the trace. A job shares nodes only with jobs whose iteration is at most its allowed slowdown longer; "
      "where "
      "rollouts differ by 18 times, regrouping at every event reaches 1.64. With rollouts of 200 to 300 s, "
      "promises "
      "of at least 1.5 and one node for every job, our placement reaches 1.67 and regrouping 1.95.");
  add_cause(all, {"cost: solo disaggregation over veRL", "GPUs at the peak"},
            "veRL takes a second node here where one would break the promise of a job; the paper's has as many "
            "training "
            "nodes as solo disaggregation. Our groups are less dense than the paper's for the reason above.");
  add_cause(all, {"decisions about arriving jobs", "bubbles removed from those of solo disaggregation"},
            "jobs whose lengths are nearer to each other are packed more often, see the costs above.");
  add_cause(
      all,
      {"cost with drift: WEAVE over hourly regrouping", "rollout nodes busy: hourly regrouping over WEAVE",
       "training nodes busy: hourly regrouping over WEAVE", "hours of restarts by hourly regrouping"},
      "regrouping saves as much without drift: it is the order of arrivals that it repairs, not drift. Of our "
      "jobs "
      "it restarts more, as it regroups whenever that saves anything.");
  add_cause(
      all,
      {"cost with drift: random over hourly regrouping", "cost with drift: most idle over hourly regrouping",
       "cost over the optimum: random", "cost over the optimum: most idle", "promises kept: random",
       "promises kept: most idle"},
      "for mixed jobs the printed costs, 1.97 and 1.66 times the optimum, are above that of a group of its own "
      "for "
      "every job, 1.53 times; with drift 3.2 to 3.6 times are, too. Ours fill groups, cost less and break more "
      "promises.");
  add_cause(all,
            {"cost over the optimum: WEAVE's Algorithm 1",
             "cost over the optimum: WEAVE's Algorithm 1, if no job ends"},
            "departures. Jobs that only arrive cost 1.07 times the optimum (printed 1.06); after departures "
            "the optimum "
            "regroups for nothing and Algorithm 1 never does.");
  add_cause(all, {"mean cost", "highest cost", "most GPUs"},
            "Table 6 has no numbers of nodes. One node of each pool for every job is $425 an hour without any "
            "sharing, "
            "so the paper's jobs have at least two.");
  return all;
}

std::vector<std::string> contradictions() {
  return {
      "Figure 10 (a) prints 1.82 times the throughput of solo disaggregation. Two jobs on one pair of nodes at "
      "261.8 s "
      "instead of 257.7 s (Table 4) have 1.97 times.",
      "Figure 10 (c) prints 1.99 times. C and two D on the nodes of C cost half of what they cost alone (Table "
      "3), and take "
      "630.8 instead of 574.6 s (Table 4): 1.82 times.",
      "Section 6.2 gives type D 16 H800, Table 3 gives it 8.",
      "Table 4 calls all phases on H800 faster than rollouts on H20 by 7 to 10 %; Table 1 gives the H20 1.19 "
      "times the "
      "memory bandwidth, and section 2 calls rollouts bound by it.",
      "Figure 20 prints costs of 1.97 and 1.66 times the optimum for random and most-idle placement of mixed "
      "jobs; on jobs "
      "of Table 6 a group of its own for every job costs 1.53 times the optimum.",
      "Theorem 1 is false for several rollout nodes (tests/planner/coschedule/round_robin_test.cpp)."};
}
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace sextant::weave
