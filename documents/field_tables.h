// The tables of fields of the documents' objects.
#pragma once

#include "documents/explanation.h"
#include "documents/values/value_tables.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/execution.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/rollout.h"
#include "sextant/run.h"
#include "sextant/search.h"
#include "sextant/workflow.h"

namespace sextant::inline documents {

[[nodiscard]] const Fields<Coefficient>& coefficient_fields();
[[nodiscard]] const Fields<DeviceType>& device_type_fields();
[[nodiscard]] const Fields<DeviceUse>& device_use_fields();
[[nodiscard]] const Fields<Execution>& execution_fields();
[[nodiscard]] const Fields<Explanation>& explanation_fields();
[[nodiscard]] const Fields<Flip>& flip_fields();
[[nodiscard]] const Fields<LinkRate>& link_fields();
[[nodiscard]] const Fields<Node>& node_fields();
[[nodiscard]] const Fields<PlanOrder>& plan_order_fields();
[[nodiscard]] const Fields<Prediction>& prediction_fields();
[[nodiscard]] const Fields<RiskRecord>& risk_fields();
[[nodiscard]] const Fields<RolloutRules>& rollout_fields();
[[nodiscard]] const Fields<RunRecord>& run_fields();
[[nodiscard]] const Fields<RunRecord::Part>& run_part_fields();
[[nodiscard]] const Fields<Saving>& saving_fields();
[[nodiscard]] const Fields<Sensitivity>& sensitivity_fields();
[[nodiscard]] const Fields<Task>& task_fields();
[[nodiscard]] const Fields<TaskExperience>& experience_fields();
[[nodiscard]] const Fields<TaskPrediction>& task_prediction_fields();
[[nodiscard]] const Fields<TimePart>& time_part_fields();
[[nodiscard]] const Fields<Unstated>& unstated_fields();
[[nodiscard]] const Fields<WeightSyncPlan>& weight_sync_fields();
[[nodiscard]] const Fields<Workflow>& workflow_fields();

}  // namespace sextant::inline documents
