// How large a JSON text is, in one pass over its bytes that ends at the first excess: nothing of it is built.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farthing {

struct JsonLimits {
    std::int64_t values;  // in the whole text
    std::int64_t items;   // in one list or object
    std::int64_t depth;   // of nested brackets
};

enum class JsonExcess { none, values, items, depth };

// Every value but the first follows a comma or an opening bracket outside of strings, so these bound what a parser
// makes. The text need not be whole, nor valid: a text that begins with an excess has it too.
inline JsonExcess json_excess(const char* text, std::size_t size, const JsonLimits& limits) {
    std::vector<std::int64_t> commas(static_cast<std::size_t>(std::max<std::int64_t>(limits.depth, 0)) + 1, 0);
    std::int64_t values = 0, depth = 0;
    for (std::size_t i = 0; i < size; ++i) {
        switch (text[i]) {
            case '"':  // to the closing quote, past escaped characters
                for (++i; i < size && text[i] != '"'; ++i)
                    if (text[i] == '\\') ++i;
                break;
            case '[':
            case '{':
                if (++depth > limits.depth) return JsonExcess::depth;
                if (depth >= 0) commas[static_cast<std::size_t>(depth)] = 0;
                if (++values > limits.values) return JsonExcess::values;
                break;
            case ']':
            case '}':
                --depth;
                break;
            case ',':
                if (++values > limits.values) return JsonExcess::values;
                if (depth >= 0 && ++commas[static_cast<std::size_t>(depth)] >= limits.items) return JsonExcess::items;
                break;
            default:
                break;
        }
    }
    return JsonExcess::none;
}

}  // namespace farthing
