// A plan as a table.
#include "reports/export/plan_export.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(PlanAsCsv, HasARowForEachStageOfEachReplica) {
  Plan plan;
  TaskPlan training;
  training.replicas = {{0.25, {{3, {DeviceId{0}, DeviceId{1}}}, {1, {DeviceId{2}, DeviceId{3}}}}, 0},
                       {0.75, {{4, {DeviceId{4}, DeviceId{5}}}}, 1}};
  training.micro_batch_sequences = 2;
  training.recompute = Recompute::full;
  training.execution.context_parallel = 2;
  training.execution.zero_stage = 1;
  plan.tasks["actor, trained"] = training;
  EXPECT_EQ(plan_as_csv(plan),
            "task,replica,batch_share,length_rank,stage,layers,tensor_parallel,context_parallel,devices,"
            "micro_batch_sequences,decode_batch_sequences,recompute,options\n"
            "\"actor, trained\",0,0.25,0,0,3,1,2,0 1,2,0,full,context_parallel=2 zero_stage=1\n"
            "\"actor, trained\",0,0.25,0,1,1,1,2,2 3,2,0,full,context_parallel=2 zero_stage=1\n"
            "\"actor, trained\",1,0.75,1,0,4,1,2,4 5,2,0,full,context_parallel=2 zero_stage=1\n");
}

}  // namespace
}  // namespace sextant
