// The last changes of a plan that was found. Tasks that a framework runs on one engine get one layout, an actor's
// training and the second pass over its log-probabilities for example; an option that is one setting for several
// tasks gets one value; ranks are numbered as the framework numbers them. Tasks with slack get faster layouts.
#pragma once

#include "sextant/planner.h"

namespace sextant::inline planner {

// Makes the plan obey PlanRequest::engine_rules and TaskChoices::rank_order, with the devices of every task as
// they are: of the layouts and options that obey, the best ones found are taken (shared_layouts.h). Does nothing
// if there is no plan or it obeys already. Rules about pinned tasks are left out. A plan that was proved to be
// the best without the rules keeps the lower bound and loses the proof. If nothing fits, there is no plan.
void obey_engine_rules(const PlanRequest& request, PlanResult& result);

// Makes tasks at least 5 % faster on their devices if the loss rises by no more than kMaxLossOfSlack of it: a task
// that runs beside a slower one has slack, and a search is content with any of its layouts that is fast enough on
// average. Pinned tasks keep theirs, and so do tasks that share a layout or an option with others.
inline constexpr double kMaxLossOfSlack = 1e-3;
void use_slack(const PlanRequest& request, PlanResult& result);

}  // namespace sextant::inline planner
