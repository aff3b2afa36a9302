#include <tuner/session/wisdom/spent.hpp>

#include <functional>
#include <type_traits>

#include <cache/records/json.hpp>

namespace tuner {
namespace {

/// Counts are whole and not negative: the JSON library would convert any number.
template <typename Limit>
void take(const Json& object, const char* name, std::optional<Limit>& limit) {
  const auto at = object.find(name);
  if (at == object.end()) return;
  const bool is_one = std::is_integral_v<Limit> ? at->is_number_unsigned() : at->is_number();
  if (is_one) limit = at->template get<Limit>();
}

}  // namespace

std::string text(const Spent& spent) {
  const Budget& limits = spent.limits;
  Json object = Json::object();
  if (limits.wall_time) object["budget_s"] = limits.wall_time->count();
  if (limits.trials) object["trials"] = *limits.trials;
  if (limits.fraction) object["share"] = *limits.fraction;
  if (limits.target) object["target"] = *limits.target;
  if (limits.until_unlikely) object["unlikely"] = *limits.until_unlikely;
  object["search_s"] = spent.seconds;
  if (spent.valid > 0) object["valid"] = spent.valid;
  if (spent.nothing_left) object["nothing_left"] = true;
  if (spent.part) object["part"] = true;
  if (!spent.remarks.empty()) object["remarks"] = spent.remarks;
  return text_of_json(object);
}

Spent parse_spent(const std::string& text) {
  Spent spent;
  const Json object = json_or_discarded(text);
  if (!object.is_object()) return spent;
  std::optional<double> budget_s, search_s;
  std::optional<std::size_t> valid;
  take(object, "budget_s", budget_s);
  take(object, "search_s", search_s);
  take(object, "trials", spent.limits.trials);
  take(object, "share", spent.limits.fraction);
  take(object, "target", spent.limits.target);
  take(object, "unlikely", spent.limits.until_unlikely);
  take(object, "valid", valid);
  if (budget_s) spent.limits.wall_time = std::chrono::duration<double>(*budget_s);
  spent.seconds = search_s.value_or(0);
  spent.valid = valid.value_or(0);
  spent.nothing_left = object.value("nothing_left", Json()) == Json(true);
  spent.part = object.value("part", Json()) == Json(true);
  if (const auto remarks = object.find("remarks"); remarks != object.end() && remarks->is_array())
    for (const Json& remark : *remarks)
      if (remark.is_string()) spent.remarks.push_back(remark.get<std::string>());
  return spent;
}

bool covers(const Budget& before, const Budget& now, const Objective& objective) {
  const auto holds = [](const auto& then, const auto& wanted, const auto& is_no_larger) {
    return !then || (wanted && is_no_larger(*wanted, *then));
  };
  const auto is_no_harder = [&](double wanted, double then) {
    return objective.minimised(wanted) >= objective.minimised(then);
  };
  return holds(before.wall_time, now.wall_time, std::less_equal<>()) &&
         holds(before.trials, now.trials, std::less_equal<>()) &&
         holds(before.fraction, now.fraction, std::less_equal<>()) && holds(before.target, now.target, is_no_harder) &&
         holds(before.until_unlikely, now.until_unlikely, std::greater_equal<>());
}

Effort effort_of(const Spent& spent, bool is_gpu, const Objective& objective) {
  for (const Effort effort : {Effort::thorough, Effort::normal, Effort::quick}) {
    const Budget limits = limits_of(effort, is_gpu);
    if (covers(spent.limits, limits, objective) || (limits.wall_time && spent.seconds >= limits.wall_time->count()))
      return effort;
  }
  return Effort::none;
}

Effort stored_effort(const cache::BestRecord& best) { return effort_named(best.effort).value_or(Effort::normal); }

}  // namespace tuner
