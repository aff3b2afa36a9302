#include <tuner/search/transfer.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace tuner::search {
namespace {

constexpr std::size_t kProposed = 2000;  // only so many of the best elsewhere are proposed
constexpr std::size_t kApart = 5;        // so many proposals differ from each other in two parameters
constexpr std::size_t kCompared = 8;     // results that a rank correlation needs

// The Gaussian process. Lengths are in standard deviations of a feature, times the root of the number of features.
constexpr double kLength = 2;
constexpr double kDeviation = 0.6;  // of the logarithm of a ratio: a factor of 1.8
constexpr double kNoise = 0.02;
constexpr double kFailure = 0.5;  // a failure is this much worse than the worst ratio

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t f = 0; f < a.size(); ++f) square += (a[f] - b[f]) * (a[f] - b[f]);
  return kDeviation * kDeviation * std::exp(-0.5 * square);
}

/// Divides each feature by its length, so that distances between rows have no unit.
void scale(std::vector<std::vector<double>*> rows) {
  const std::size_t width = rows.front()->size();
  for (std::size_t f = 0; f < width; ++f) {
    double sum = 0;
    double squares = 0;
    for (const auto* row : rows) {
      sum += (*row)[f];
      squares += (*row)[f] * (*row)[f];
    }
    const double mean = sum / static_cast<double>(rows.size());
    const double variance = squares / static_cast<double>(rows.size()) - mean * mean;
    const double length = kLength * std::sqrt(static_cast<double>(width) * std::max(variance, 1e-4));
    for (auto* row : rows) (*row)[f] /= length;
  }
}

}  // namespace

Transfer::Transfer(const EnumeratedSpace& space, std::vector<Known> elsewhere) : space_(space) {
  std::erase_if(elsewhere, [](const Known& known) { return !std::isfinite(known.objective); });
  std::ranges::stable_sort(elsewhere, {}, &Known::objective);
  least_ = elsewhere.front().objective;
  if (least_ <= 0) scale_ = std::max(std::abs(elsewhere[elsewhere.size() / 2].objective), 1e-300);
  const Features features(space);
  std::vector<float> row(features.width());
  for (const Known& known : elsewhere) {
    if (!position_.emplace(known.index, candidates_.size()).second) continue;
    features.write(known.index, row.data());
    candidates_.push_back({known.index, level(known.objective), {row.begin(), row.end()}});
  }
  std::vector<std::vector<double>*> rows;
  for (Candidate& candidate : candidates_) rows.push_back(&candidate.row);
  scale(rows);
}

double Transfer::level(double objective) const {
  if (!std::isfinite(objective)) return objective;
  return scale_ > 0 ? objective / scale_ : std::log(std::max(objective, 1e-6 * least_));
}

std::vector<Transfer::Seen> Transfer::seen(const History& history) const {
  std::vector<Seen> out;
  for (const Known& known : history.known())
    if (const auto at = position_.find(known.index); at != position_.end())
      out.push_back({at->second, level(known.objective)});
  for (const Index index : proposed_)
    if (history.state(index) == State::pending) out.push_back({position_.at(index), std::nullopt});
  return out;
}

bool Transfer::is_apart(Index index) const {
  return std::ranges::all_of(proposed_, [&](Index other) {
    std::size_t different = 0;
    for (std::size_t p = 0; p < space_.parameters().size(); ++p)
      different += space_.digit(index, p) != space_.digit(other, p);
    return different >= 2;
  });
}

std::optional<Index> Transfer::next(const History& history) {
  const std::vector<Seen> rows = seen(history);
  std::vector<double> ratios;
  for (const Seen& row : rows)
    if (row.level && std::isfinite(*row.level)) ratios.push_back(*row.level - candidates_[row.candidate].level);
  std::ranges::sort(ratios);
  const double centre = ratios.empty() ? 0 : ratios[ratios.size() / 2];
  const double failure = ratios.empty() ? 0 : ratios.back() - centre + kFailure;
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd among(count, count);
  Eigen::VectorXd targets(count);  // without a result: the centre
  for (Eigen::Index i = 0; i < count; ++i) {
    const Seen& row = rows[static_cast<std::size_t>(i)];
    const Candidate& candidate = candidates_[row.candidate];
    targets[i] = !row.level ? 0 : std::isfinite(*row.level) ? *row.level - candidate.level - centre : failure;
    for (Eigen::Index j = 0; j <= i; ++j)
      among(i, j) = covariance(candidate.row, candidates_[rows[static_cast<std::size_t>(j)].candidate].row) +
                    (i == j ? kNoise * kNoise : 0);
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(among);
  const Eigen::VectorXd weights = factor.solve(targets);

  std::optional<Index> best;
  double least = 0;
  Eigen::VectorXd to(count);
  for (std::size_t c = 0; c < std::min(kProposed, candidates_.size()); ++c) {
    const Candidate& candidate = candidates_[c];
    if (!history.is_fresh(candidate.index) || (proposed_.size() < kApart && !is_apart(candidate.index))) continue;
    for (Eigen::Index i = 0; i < count; ++i)
      to[i] = covariance(candidate.row, candidates_[rows[static_cast<std::size_t>(i)].candidate].row);
    const double explained = factor.matrixL().solve(to).squaredNorm();
    const double deviation = std::sqrt(std::max(0.0, kDeviation * kDeviation - explained));
    const double optimistic = candidate.level + to.dot(weights) - deviation;
    if (best && optimistic >= least) continue;
    best = candidate.index;
    least = optimistic;
  }
  if (best) proposed_.push_back(*best);
  return best;
}

std::optional<double> Transfer::agreement(const History& history) const {
  std::vector<Seen> rows = seen(history);
  std::erase_if(rows, [](const Seen& row) { return !row.level; });
  if (rows.size() < kCompared) return std::nullopt;
  double sum = 0;
  const auto sign = [](double difference) { return difference > 0 ? 1 : difference < 0 ? -1 : 0; };
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (*rows[i].level != *rows[j].level)  // two failures have no order
        sum += sign(candidates_[rows[i].candidate].level - candidates_[rows[j].candidate].level) *
               sign(*rows[i].level - *rows[j].level);
  return 2 * sum / static_cast<double>(rows.size() * (rows.size() - 1));
}

}  // namespace tuner::search
