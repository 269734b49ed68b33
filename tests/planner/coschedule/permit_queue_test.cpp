// The queue of permits by itself, the bounds of phases, and the words for jobs; no process is started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/coschedule/control/permit_server.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using test::on_one_pair;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Group three_jobs() { return on_one_pair({job("a", 3, 2), job("b", 2, 3), job("c", 1, 1)}); }

void join_all(PermitQueue& queue, int members) {
  for (int member = 0; member < members; ++member) queue.join(member);
}

TEST(PermitQueue, ServesByTurnsWhoeverAsksFirst) {
  const Group group = three_jobs();
  PermitQueue queue(group);
  join_all(queue, 3);
  EXPECT_TRUE(queue.request(1, Phase::rollout));
  EXPECT_THAT(queue.granted(), IsEmpty());  // it is a's turn
  EXPECT_TRUE(queue.request(0, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
  EXPECT_FALSE(queue.request(0, Phase::training));  // it holds a permit
  EXPECT_TRUE(queue.release(0));
  EXPECT_FALSE(queue.release(0));
  EXPECT_THAT(queue.granted(), ElementsAre(1));
  EXPECT_TRUE(queue.request(0, Phase::training));
  EXPECT_THAT(queue.granted(), ElementsAre(0));  // other nodes
}

// The second job begins alone. Its training need not wait for the first one's, which comes after it.
TEST(PermitQueue, JobsTrainInTheOrderOfTheirRollouts) {
  const Group group = on_one_pair({job("a", 3, 2), job("b", 2, 3)});
  PermitQueue queue(group);
  queue.join(1);
  EXPECT_TRUE(queue.request(1, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(1));
  queue.join(0);
  EXPECT_TRUE(queue.request(0, Phase::rollout));
  EXPECT_TRUE(queue.release(1));
  EXPECT_TRUE(queue.request(1, Phase::training));
  EXPECT_THAT(queue.granted(), ElementsAre(0, 1));  // a's rollout beside b's training
  EXPECT_TRUE(queue.release(0));
  EXPECT_TRUE(queue.request(0, Phase::training));
  EXPECT_TRUE(queue.release(1));
  EXPECT_TRUE(queue.request(1, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(0, 1));
}

TEST(PermitQueue, FirstComeServesTheOneThatAskedFirst) {
  const Group group = three_jobs();
  PermitQueue queue(group, ServingOrder::first_come);
  join_all(queue, 3);
  ASSERT_TRUE(queue.request(2, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(2));
  ASSERT_TRUE(queue.request(1, Phase::rollout));
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  ASSERT_TRUE(queue.release(2));
  EXPECT_THAT(queue.granted(), ElementsAre(1));
}

TEST(PermitQueue, AMemberThatLeavesIsNotWaitedFor) {
  const Group group = three_jobs();
  PermitQueue queue(group);
  join_all(queue, 3);
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
  ASSERT_TRUE(queue.request(2, Phase::rollout));
  queue.leave(1);  // whose turn is next
  queue.leave(0);  // which holds the node
  EXPECT_THAT(queue.granted(), ElementsAre(2));
  queue.join(0);
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  ASSERT_TRUE(queue.release(2));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
}

// The wide job needs both nodes at once. Requests join both queues together, so that nobody waits for ever.
TEST(PermitQueue, AJobOfSeveralNodesGetsThemTogether) {
  Job wide = job("wide", 2, 1);
  wide.rollout_nodes = 2;
  const Group group{"g", 2, 1, {{wide, {0, 1}}, {job("b", 1, 1), {0}}, {job("c", 1, 1), {1}}}};
  for (const ServingOrder order : {ServingOrder::turns, ServingOrder::first_come}) {
    PermitQueue queue(group, order);
    join_all(queue, 3);
    ASSERT_TRUE(queue.request(0, Phase::rollout));
    EXPECT_THAT(queue.granted(), ElementsAre(0));
    ASSERT_TRUE(queue.request(1, Phase::rollout));
    ASSERT_TRUE(queue.request(2, Phase::rollout));
    EXPECT_THAT(queue.granted(), IsEmpty());
    ASSERT_TRUE(queue.release(0));
    EXPECT_THAT(queue.granted(), ElementsAre(1, 2));
    ASSERT_TRUE(queue.request(0, Phase::rollout));
    ASSERT_TRUE(queue.release(1));
    EXPECT_THAT(queue.granted(), IsEmpty());
    ASSERT_TRUE(queue.release(2));
    EXPECT_THAT(queue.granted(), ElementsAre(0));
  }
}

TEST(PermitQueue, ATailMovesOnlyIfAnotherWaitsAndNoneIsThere) {
  const Group group = three_jobs();
  PermitQueue queue(group);
  join_all(queue, 3);
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
  EXPECT_FALSE(queue.progress(0, 0.9));  // nobody waits
  ASSERT_TRUE(queue.request(1, Phase::rollout));
  EXPECT_FALSE(queue.progress(0, 0.7));
  EXPECT_TRUE(queue.progress(0, 0.8));
  EXPECT_FALSE(queue.progress(0, 0.9));  // it has moved
  EXPECT_THAT(queue.granted(), ElementsAre(1));
  ASSERT_TRUE(queue.request(2, Phase::rollout));
  EXPECT_FALSE(queue.progress(1, 0.9));  // the first tail is still there
  ASSERT_TRUE(queue.release(0));
  EXPECT_TRUE(queue.progress(1, 0.9));
  EXPECT_THAT(queue.granted(), ElementsAre(2));
}

TEST(PermitQueue, AMemberThatIsSetAsideIsNotWaitedForUntilItAsks) {
  const Group group = three_jobs();
  PermitQueue queue(group);
  join_all(queue, 3);
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
  EXPECT_FALSE(queue.is_idle(0));  // it holds a permit
  queue.set_aside(0);
  ASSERT_TRUE(queue.release(0));
  ASSERT_TRUE(queue.request(2, Phase::rollout));
  EXPECT_FALSE(queue.is_idle(2));
  EXPECT_THAT(queue.granted(), IsEmpty());  // it is the second one's turn, which asks for nothing
  EXPECT_TRUE(queue.is_idle(1));
  queue.set_aside(1);
  EXPECT_FALSE(queue.is_idle(1));
  EXPECT_THAT(queue.granted(), ElementsAre(2));
  // It takes its next turn, after the first job's.
  ASSERT_TRUE(queue.request(1, Phase::rollout));
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  ASSERT_TRUE(queue.release(2));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
  ASSERT_TRUE(queue.release(0));
  EXPECT_THAT(queue.granted(), ElementsAre(1));
}

TEST(PermitQueue, AMemberWhosePermitIsTakenBackIsSetAside) {
  const Group group = three_jobs();
  PermitQueue queue(group);
  join_all(queue, 3);
  ASSERT_TRUE(queue.request(0, Phase::rollout));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
  ASSERT_TRUE(queue.request(1, Phase::rollout));
  EXPECT_THAT(queue.granted(), IsEmpty());
  queue.take_back(1);  // it holds none
  queue.take_back(0);
  EXPECT_FALSE(queue.phase_of(0).has_value());
  EXPECT_FALSE(queue.is_idle(0));
  EXPECT_THAT(queue.granted(), ElementsAre(1));
  EXPECT_FALSE(queue.release(0));
  ASSERT_TRUE(queue.release(1));
  ASSERT_TRUE(queue.request(1, Phase::training));  // without waiting for the first one's
  EXPECT_THAT(queue.granted(), ElementsAre(1));
  ASSERT_TRUE(queue.request(0, Phase::training));  // it has generated after all
  ASSERT_TRUE(queue.release(1));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
}

// The rollout's bound is that of the longest responses; more training nodes than the job needs shorten its training.
TEST(PhaseBound, FollowsFromTheJobAndItsGroup) {
  Job of = job("a", 100, 60);
  of.rollout_warm_start_s = 5;
  of.training_warm_start_s = 7;
  Group group = on_one_pair({of});
  group.training_nodes = 2;
  EXPECT_EQ(phase_bound_s(group, 0, Phase::rollout), 105);
  EXPECT_EQ(phase_bound_s(group, 0, Phase::training), 37);
  EXPECT_EQ(phase_bound_s(group, 0, Phase::sync), 160);  // not stated
  group.members[0].job.sync_s = 3;
  EXPECT_EQ(phase_bound_s(group, 0, Phase::sync), 3);
}

// The words of a job that crashed, came back, hung and left.
TEST(MeasuredJobs, SayWhatAJobIsNowAndWhatItWas) {
  const Group group = on_one_pair({job("a", 1, 1), job("b", 1, 1)});
  std::vector<PhaseRecord> log;
  const auto words = [&] { return words_of_state(measured_jobs(group, log).front()); };
  const auto add = [&](double time_s, PhaseEvent event, Phase phase = Phase::rollout) {
    log.push_back({time_s, "a", event, phase});
  };
  EXPECT_EQ(words(), "not seen");
  add(0, PhaseEvent::joined);
  EXPECT_EQ(words(), "running");
  add(1, PhaseEvent::crashed);
  EXPECT_EQ(words(), "crashed");
  add(2, PhaseEvent::joined);
  EXPECT_EQ(words(), "running (crashed once)");
  add(3, PhaseEvent::crashed);
  EXPECT_EQ(words(), "crashed 2 times");
  add(4, PhaseEvent::joined);
  add(4, PhaseEvent::asked);
  add(4, PhaseEvent::granted);
  add(104, PhaseEvent::taken_back);
  EXPECT_EQ(words(), "hung (crashed 2 times)");
  add(204, PhaseEvent::asked);
  for (const double begin_s : {204.0, 207.0}) {
    add(begin_s, PhaseEvent::granted);
    add(begin_s + 1, PhaseEvent::released);
    add(begin_s + 1, PhaseEvent::asked, Phase::training);
    add(begin_s + 1, PhaseEvent::granted, Phase::training);
    add(begin_s + 3, PhaseEvent::released, Phase::training);
    add(begin_s + 3, PhaseEvent::asked);
  }
  add(210, PhaseEvent::left);
  EXPECT_EQ(words(), "left (crashed 2 times, hung once)");
  // The time for which it hung is in no iteration.
  const MeasuredJob measured = measured_jobs(group, log, 0).front();
  EXPECT_EQ(measured.iterations, 2);
  EXPECT_EQ(measured.iteration_s, 3);
}

TEST(PermitQueue, ARolloutWithoutTrainingHoldsUpTheOthersUntilItIsSetAside) {
  const Group group = three_jobs();
  PermitQueue queue(group);
  join_all(queue, 3);
  for (const int member : {0, 1}) {
    ASSERT_TRUE(queue.request(member, Phase::rollout));
    EXPECT_THAT(queue.granted(), ElementsAre(member));
    ASSERT_TRUE(queue.release(member));
  }
  ASSERT_TRUE(queue.request(1, Phase::training));
  EXPECT_THAT(queue.granted(), IsEmpty());
  queue.set_aside(0);
  EXPECT_THAT(queue.granted(), ElementsAre(1));
  ASSERT_TRUE(queue.request(0, Phase::training));
  ASSERT_TRUE(queue.release(1));
  EXPECT_THAT(queue.granted(), ElementsAre(0));
}

}  // namespace
}  // namespace sextant::coschedule
