#pragma once
/// The few elements of SVG that our pictures consist of. Coordinates are pixels, y grows downwards; \p style is further
/// attributes as they are written ("fill=\"#555\"").

#include <string>
#include <string_view>

namespace tuner::svg {

inline constexpr std::string_view kHeading = "font-size=\"16\" font-weight=\"bold\" fill=\"#1b1d20\"";
inline constexpr std::string_view kBold = "font-weight=\"bold\" fill=\"#1b1d20\"";
inline constexpr std::string_view kAxisStroke = "stroke=\"#5a5f66\"";
inline constexpr std::string_view kGridStroke = "stroke=\"#e4e3de\"";  // of lines across a plot

/// \p content on white, in 12 pixels of the fonts that people have.
std::string document(double width, double height, std::string_view content);
/// Moved by (\p x, \p y).
std::string group(double x, double y, std::string_view content);
/// What a reader's pointer is told about what is drawn beside it.
std::string title(std::string_view content);
/// \p anchor: the part of the text that stands at \p x: "start", "middle" or "end".
std::string text(double x, double y, std::string_view anchor, std::string_view content, std::string_view style = {});
/// Horizontal.
std::string line(double x1, double x2, double y, std::string_view style);
/// \p points: "x,y x,y …".
std::string polyline(std::string_view points, std::string_view style);
/// A mark on the horizontal axis, downwards.
std::string tick(double x, double y);

}  // namespace tuner::svg
