#include <tuner/measure/compile_queue.hpp>

#include <iterator>
#include <utility>

#include <tuner/backend/traits.hpp>

namespace tuner {
namespace {

bool may_share(const CompileRequest& a, const CompileRequest& b) {
  return a.architecture == b.architecture && a.defines == b.defines && a.options == b.options && a.macros == b.macros &&
         a.source == b.source;
}

}  // namespace

bool covers(std::span<const CompileJob> jobs, const CompileRequest& request) {
  const auto is_asked = [&](const std::string& expression) {
    return std::ranges::any_of(jobs, [&](const CompileJob& job) {
      const std::vector<std::string>& asked = job.request.expressions;
      return std::ranges::find(asked, expression) != asked.end();
    });
  };
  return !jobs.empty() && std::ranges::all_of(request.expressions, is_asked) &&
         may_share(jobs.front().request, request);
}

bool is_one_program(std::span<const CompileJob> jobs) {
  return std::ranges::all_of(jobs, [&](const CompileJob& job) {
    return job.request.expressions == jobs.front().request.expressions && may_share(jobs.front().request, job.request);
  });
}

void take_covered(std::deque<CompileJob>& waiting, std::vector<CompileJob>& jobs) {
  const auto others = std::stable_partition(waiting.begin(), waiting.end(), [&](const CompileJob& job) {
    return job.again == jobs.front().again && covers(jobs, job.request);
  });
  std::move(waiting.begin(), others, std::back_inserter(jobs));
  waiting.erase(waiting.begin(), others);
}

std::vector<CompileJob> CompileQueue::take(std::size_t most, std::size_t workers) {
  std::vector<CompileJob> batch;
  if (!split_.empty()) {
    batch = std::move(split_.front());
    split_.pop_front();
    return batch;
  }
  workers = std::max<std::size_t>(workers, 1);
  const std::size_t fair = (fresh_.size() + workers - 1) / workers;
  most = std::clamp<std::size_t>(std::min(most, in_time_), 1, limit_);
  const std::size_t count = std::clamp<std::size_t>(fair, 1, most);
  for (auto job = fresh_.begin(); job != fresh_.end() && batch.size() < count;) {
    if (!batch.empty() && !may_share(batch.front().request, job->request)) {
      ++job;
      continue;
    }
    batch.push_back(std::move(*job));
    job = fresh_.erase(job);
  }
  limit_ = std::max(limit_, 2 * batch.size());
  take_covered(fresh_, batch);
  return batch;
}

void CompileQueue::take_fewer_than(std::size_t jobs) {
  in_time_ = std::min(in_time_, std::max<std::size_t>(jobs / 2, 1));
}

void CompileQueue::withdraw(std::span<const Configuration> configurations) {
  (void)take_out(fresh_, configurations, &CompileJob::configuration);
}

void CompileQueue::split(std::vector<CompileJob> jobs) {
  std::ranges::stable_sort(jobs, [](const CompileJob& a, const CompileJob& b) {
    return a.request.expressions < b.request.expressions;  // keeps jobs of one program together
  });
  const auto middle = jobs.begin() + static_cast<std::ptrdiff_t>(jobs.size() / 2);
  std::vector<CompileJob> second(std::make_move_iterator(middle), std::make_move_iterator(jobs.end()));
  jobs.erase(middle, jobs.end());
  split_.push_front(std::move(second));
  split_.push_front(std::move(jobs));
}

std::size_t compile_batch(std::string_view backend, std::size_t compilers, bool search_learns) {
  constexpr std::size_t cheapest = 8;  // larger batches save little of NVRTC's time for a configuration
  constexpr std::size_t for_few_compilers = 4;
  const std::size_t wanted = traits(backend).batch;
  if (wanted > 0) return wanted;
  if (!search_learns) return cheapest;
  return compilers >= for_few_compilers ? 1 : for_few_compilers;
}

std::size_t sharing_compilers(std::string_view backend, std::size_t all, std::size_t idle) {
  return traits(backend).shares_cores ? idle : all;
}

CompileRequest merge(std::span<const CompileJob> jobs) {
  CompileRequest request = jobs.front().request;
  for (const CompileJob& job : jobs.subspan(1)) {
    request.in_background = request.in_background && job.request.in_background;
    for (const std::string& expression : job.request.expressions)
      if (std::ranges::find(request.expressions, expression) == request.expressions.end())
        request.expressions.push_back(expression);
  }
  return request;
}

}  // namespace tuner
