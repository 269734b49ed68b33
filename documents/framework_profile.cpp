#include "sextant/framework_profile.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text.h"
#include "documents/field_tables.h"
#include "documents/plan_json.h"
#include "documents/values/fields.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 13> kSchemas{
    "sextant.framework_profile/1.12", "sextant.framework_profile/1.11", "sextant.framework_profile/1.10",
    "sextant.framework_profile/1.9",  "sextant.framework_profile/1.8",  "sextant.framework_profile/1.7",
    "sextant.framework_profile/1.6",  "sextant.framework_profile/1.5",  "sextant.framework_profile/1.4",
    "sextant.framework_profile/1.3",  "sextant.framework_profile/1.2",  "sextant.framework_profile/1.1",
    "sextant.framework_profile/1.0"};
// Options of CommonOptions that are not members of an execution.
constexpr std::string_view kRecompute = "recompute", kMicroBatch = "micro_batch_sequences",
                           kZeroStage3 = "zero_stage_3";
constexpr std::size_t kMaxExecutions = 256;  // of a kind of task

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Mode parse_mode(const JsonView& view) {
  constexpr std::array kModes{Mode::synchronous, Mode::one_step_off, Mode::asynchronous};
  std::vector<std::string_view> names;
  for (const Mode mode : kModes) names.push_back(name_of(mode));
  return kModes[view.one_of(names)];
}

std::set<Algorithm> parse_algorithms(const JsonView& list) {
  constexpr std::array kAlgorithms{Algorithm::ppo, Algorithm::grpo};
  std::vector<std::string_view> names;
  for (const Algorithm algorithm : kAlgorithms) names.push_back(name_of(algorithm));
  std::set<Algorithm> algorithms;
  for (const JsonView& item : list.items()) algorithms.insert(kAlgorithms[item.one_of(names)]);
  return algorithms;
}

template <typename T>
void add_new(std::vector<T>& values, const T& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

// The default, then the others of `vary`, which may repeat it.
template <typename T, typename Parse>
void read_choices(const JsonView& task, const std::optional<JsonView>& vary, std::string_view member,
                  Parse parse, std::vector<T>& out) {
  if (const auto one = task.optional(member)) out = {parse(*one)};
  if (!vary) return;
  const auto others = vary->optional(member);
  if (!others) return;
  for (const JsonView& other : others->items()) add_new(out, parse(other));
}

// Members of `vary` that are not of an execution.
bool is_of_execution(std::string_view member) {
  constexpr std::array<std::string_view, 4> kOthers{"recompute", "micro_batch_sequences",
                                                    "decode_batch_sequences", "kv_memory_fraction"};
  return std::find(kOthers.begin(), kOthers.end(), member) == kOthers.end();
}

// Every combination of what varies, the default first: the first member varies slowest.
std::vector<Execution> executions_of(const JsonView& task, const std::optional<JsonView>& vary) {
  std::vector<Json> all{Json::object()};
  if (const auto execution = task.optional("execution")) all.front() = execution->json();
  if (vary) {
    for (const auto& [member, values] : vary->members()) {
      if (!is_of_execution(member)) continue;
      std::vector<Json> combined;
      for (const Json& base : all) {
        combined.push_back(base);
        for (const JsonView& value : values.items()) {
          Json other = base;
          other[member] = value.json();
          combined.push_back(std::move(other));
        }
      }
      all = std::move(combined);
      if (all.size() > kMaxExecutions)
        vary->fail("more than " + std::to_string(kMaxExecutions) + " combinations to try");
    }
  }
  std::vector<Execution> executions;
  for (const Json& json : all) {
    const Execution execution = within(
        task.path() + "/vary", [&] { return Execution::parse(JsonView(json, task.path() + "/execution")); });
    add_new(executions, execution);
  }
  return executions;
}

StageRule parse_stage_rule(const JsonView& view) {
  constexpr std::array kRules{StageRule::any, StageRule::even, StageRule::even_but_ends,
                              StageRule::differ_by_one};
  return kRules[view.one_of({"any", "even", "even_but_ends", "differ_by_one"})];
}

// `task`: with the rules of layouts that hold for all kinds of tasks.
TaskProfile parse_task(const JsonView& view, TaskProfile task) {
  view.allow_only({"execution", "recompute", "micro_batch_sequences", "decode_batch_sequences",
                   "kv_memory_fraction", "engine_memory_fraction", "max_tensor_parallel",
                   "max_pipeline_parallel", "even_batch", "stages", "precisions", "vary"});
  const auto vary = view.optional("vary");
  if (const auto is_even = view.optional("even_batch")) task.has_even_batch = is_even->flag();
  if (const auto rule = view.optional("stages")) task.stages = parse_stage_rule(*rule);
  task.executions = executions_of(view, vary);
  read_choices(view, vary, "recompute", parse_recompute, task.recompute);
  read_choices(
      view, vary, "micro_batch_sequences", [](const JsonView& v) { return v.count(1); },
      task.micro_batch_sequences);
  read_choices(
      view, vary, "decode_batch_sequences", [](const JsonView& v) { return v.count(0); },
      task.decode_batch_sequences);
  read_choices(
      view, vary, "kv_memory_fraction", [](const JsonView& v) { return v.fraction(); },
      task.kv_memory_fractions);
  if (const auto of_engine = view.optional("engine_memory_fraction"))
    task.engine_memory_fraction = of_engine->fraction();
  if (const auto precisions = view.optional("precisions")) {
    for (const JsonView& one : precisions->items()) task.precisions.insert(parse_precision(one));
  }
  if (const auto maximum = view.optional("max_tensor_parallel")) task.max_tensor_parallel = maximum->count(1);
  if (const auto maximum = view.optional("max_pipeline_parallel"))
    task.max_pipeline_parallel = maximum->count(1);
  return task;
}

using TaskSets = std::vector<std::vector<std::string>>;

TaskSets parse_sets(const std::optional<JsonView>& object, std::string_view member) {
  const auto of_member = object ? object->optional(member) : std::nullopt;
  return of_member ? list_of(list_of(text())).read(*of_member) : TaskSets{};
}

// The options of CommonOptions.
void require_option(const JsonView& view) {
  const std::string name = view.text();
  if (name == kRecompute || name == kMicroBatch || name == kZeroStage3) return;
  const Fields<Execution>& members = execution_fields();
  if (std::none_of(members.begin(), members.end(), [&](const auto& member) { return member.name == name; }))
    view.fail("no option of a task has the name " + in_quotes(name));
}

std::vector<CommonOptions> parse_common_options(const JsonView& list) {
  std::vector<CommonOptions> rules;
  for (const JsonView& item : list.items()) {
    item.allow_only({"tasks", "options"});
    for (const JsonView& option : item.required("options").items()) require_option(option);
    rules.push_back(
        {list_of(text()).read(item.required("tasks")), list_of(text()).read(item.required("options"))});
  }
  return rules;
}

std::map<std::string, OffloadRule> parse_offload_rules(const JsonView& object) {
  constexpr std::array kRules{OffloadRule::exactly, OffloadRule::at_least, OffloadRule::at_most};
  std::map<std::string, OffloadRule> rules;
  for (const auto& [task, rule] : object.members())
    rules[task] = kRules[rule.one_of({"exactly", "at_least", "at_most"})];
  return rules;
}

void parse_modes(const JsonView& view, FrameworkProfile& profile) {
  const auto same = view.optional("same_devices"), apart = view.optional("apart_devices"),
             sleeps = view.optional("engine_sleeps"), shares = view.optional("engine_shares_experts");
  const auto with_stages = shares ? shares->optional("with_stages") : std::nullopt;
  profile.has_whole_engines_with_stages = with_stages && !with_stages->flag();
  for (const JsonView& mode : view.required("modes").items()) {
    profile.same_devices[parse_mode(mode)] = parse_sets(same, mode.text());
    profile.apart_devices[parse_mode(mode)] = parse_sets(apart, mode.text());
    const auto in_mode = sleeps ? sleeps->optional(mode.text()) : std::nullopt;
    if (in_mode) profile.engine_sleeps[parse_mode(mode)] = in_mode->flag();
    const auto shared = shares ? shares->optional(mode.text()) : std::nullopt;
    if (shared && !shared->flag()) profile.modes_with_whole_engines.insert(parse_mode(mode));
  }
}

// "critic" and "several_steps" of old_log_prob_with.
void parse_old_log_prob(const JsonView& view, FrameworkProfile& profile) {
  const auto tasks = view.optional("tasks_by_default");
  const auto with = tasks ? tasks->optional("old_log_prob_with") : std::nullopt;
  if (!with) return;
  for (const JsonView& one : with->items()) {
    const std::string condition = one.text();
    if (condition != "critic" && condition != "several_steps")
      one.fail("expected critic or several_steps, got " + in_quotes(condition));
    (condition == "critic" ? profile.has_old_log_prob_with_critic : profile.has_old_log_prob_with_steps) = true;
  }
}

RuleRewards parse_rule_rewards(const JsonView& view) {
  view.allow_only({"workers", "workers_per_device", "beside_generation"});
  RuleRewards rewards;
  if (const auto workers = view.optional("workers")) rewards.workers = count().read(*workers);
  if (const auto workers = view.optional("workers_per_device"))
    rewards.workers_per_device = count().read(*workers);
  if (const auto modes = view.optional("beside_generation")) {
    for (const JsonView& mode : modes->items()) rewards.beside.insert(parse_mode(mode));
  }
  return rewards;
}

AdapterTraining parse_adapters(const JsonView& view) {
  view.allow_only({"weight_precision", "reference_is_actor"});
  AdapterTraining adapters;
  if (const auto stored = view.optional("weight_precision"))
    adapters.weight_precision = parse_precision(*stored);
  if (const auto is_actor = view.optional("reference_is_actor")) adapters.reference_is_actor = is_actor->flag();
  return adapters;
}

bool flag_of(const JsonView& view, std::string_view object, std::string_view member, bool otherwise) {
  const auto of = view.optional(object);
  const auto flag = of ? of->optional(member) : std::nullopt;
  return flag ? flag->flag() : otherwise;
}

}  // namespace

bool FrameworkProfile::computes_old_log_prob(bool has_critic, bool has_several_steps) const {
  return has_old_log_prob || (has_critic && has_old_log_prob_with_critic) ||
         (has_several_steps && has_old_log_prob_with_steps);
}

std::optional<bool> asked_offload(OffloadRule rule, bool shares) {
  if (rule == OffloadRule::exactly || (rule == OffloadRule::at_least) == shares) return shares;
  return std::nullopt;
}

std::string option_of(const TaskPlan& task, std::string_view option) {
  const Execution& execution = task.execution;
  if (option == kRecompute) return std::string(name_of(task.recompute));
  if (option == kMicroBatch)
    return execution.micro_batch_tokens > 0 ? "" : std::to_string(task.micro_batch_sequences);
  if (option == kZeroStage3) return execution.zero_stage == 3 ? "yes" : "no";
  const Fields<Execution>& fields = execution_fields();
  const auto field =
      std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.name == option; });
  Json written = Json::object();
  if (field != fields.end()) field->write(execution, written);
  return written.empty() ? "" : written.begin()->dump();
}

FrameworkProfile FrameworkProfile::parse(const JsonView& view) {
  view.allow_only({"schema",          "name",
                   "family",          "is_family_default",
                   "version",         "coefficients",
                   "weight_sync",     "tasks_by_default",
                   "layout",          "same_devices",
                   "apart_devices",   "same_layout",
                   "equal_stages",    "common_options",
                   "default_options", "offload_when_shared",
                   "engine_sleeps",   "engine_shares_experts",
                   "algorithms",      "modes",
                   "rule_rewards",    "asynchronous",
                   "adapters",        "tasks",
                   "option_names",    "cannot",
                   "notes",           "sources"});
  if (const std::string schema = view.required("schema").text();
      std::find(kSchemas.begin(), kSchemas.end(), schema) == kSchemas.end())
    view.required("schema").fail("expected " + in_quotes(std::string(kSchemas.front())) + ", got " +
                                 in_quotes(schema));
  FrameworkProfile profile;
  profile.name = view.required("name").text();
  profile.family = view.required("family").text();
  if (const auto is_default = view.optional("is_family_default"))
    profile.is_family_default = is_default->flag();
  profile.version = view.required("version").text();
  profile.coefficients = view.required("coefficients").text();
  if (const auto sync = view.optional("weight_sync")) profile.weight_sync = parse_weight_sync(*sync);
  profile.has_reference = flag_of(view, "tasks_by_default", "reference", true);
  profile.has_old_log_prob = flag_of(view, "tasks_by_default", "old_log_prob", false);
  parse_old_log_prob(view, profile);
  profile.has_reward_model = flag_of(view, "tasks_by_default", "reward_model", true);
  if (const auto rewards = view.optional("rule_rewards")) profile.rule_rewards = parse_rule_rewards(*rewards);
  if (const auto adapters = view.optional("adapters")) profile.adapters = parse_adapters(*adapters);
  if (const auto asynchronous = view.optional("asynchronous")) {
    asynchronous->allow_only({"batches_beyond_staleness", "streams_mini_batches"});
    if (const auto batches = asynchronous->optional("batches_beyond_staleness"))
      profile.batches_beyond_staleness = non_negative().read(*batches);
    profile.streams_mini_batches = flag_of(view, "asynchronous", "streams_mini_batches", false);
  }
  TaskProfile of_all;
  if (const auto layout = view.optional("layout")) {
    layout->allow_only(
        {"even_batch", "stages", "outermost", "shares_all_or_none", "shares_all_or_within", "even_layers"});
    profile.shares_all_or_within = parse_sets(view.optional("layout"), "shares_all_or_within");
    if (const auto is_even = layout->optional("even_batch")) of_all.has_even_batch = is_even->flag();
    // Versions 1.0 and 1.1 said so.
    if (flag_of(view, "layout", "even_layers", false)) of_all.stages = StageRule::even;
    if (const auto rule = layout->optional("stages")) of_all.stages = parse_stage_rule(*rule);
    if (const auto outermost = layout->optional("outermost"))
      profile.has_stages_outermost = outermost->one_of({"replicas", "stages"}) == 1;
  }
  profile.shares_all_or_none = flag_of(view, "layout", "shares_all_or_none", false);
  if (const auto list = view.optional("algorithms")) profile.algorithms = parse_algorithms(*list);
  parse_modes(view, profile);
  profile.same_layout = parse_sets(view, "same_layout");
  if (const auto tasks = view.optional("equal_stages")) profile.equal_stages = list_of(text()).read(*tasks);
  if (const auto list = view.optional("common_options")) profile.common_options = parse_common_options(*list);
  if (const auto list = view.optional("default_options")) profile.default_options = parse_common_options(*list);
  if (const auto object = view.optional("offload_when_shared"))
    profile.offload_when_shared = parse_offload_rules(*object);
  const JsonView tasks = view.required("tasks");
  tasks.allow_only({"generation", "inference", "training"});
  for (const TaskKind kind : {TaskKind::generation, TaskKind::inference, TaskKind::training}) {
    const auto task = tasks.optional(name_of(kind));
    profile.tasks[kind] = task ? parse_task(*task, of_all) : of_all;
  }
  if (const auto names = view.optional("option_names")) profile.option_names = by_name(text()).read(*names);
  if (const auto cannot = view.optional("cannot")) profile.cannot = list_of(text()).read(*cannot);
  return profile;
}

std::vector<FrameworkProfile> load_framework_profiles(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<FrameworkProfile> profiles;
  for (const fs::path& file : files) {
    try {
      const Json json = parse_json(read_text_file(file));
      profiles.push_back(FrameworkProfile::parse(JsonView(json)));
    } catch (const Error& error) {
      throw Error(error.kind(), file.string() + ": " + error.what());
    }
  }
  return profiles;
}

const FrameworkProfile* find_profile(const std::vector<FrameworkProfile>& profiles, const std::string& name) {
  const std::string wanted = lower_case(name);
  const FrameworkProfile* of_family = nullptr;
  for (const FrameworkProfile& profile : profiles) {
    if (lower_case(profile.name) == wanted) return &profile;
    if (lower_case(profile.family) == wanted && profile.is_family_default) of_family = &profile;
  }
  return of_family;
}

}  // namespace sextant
