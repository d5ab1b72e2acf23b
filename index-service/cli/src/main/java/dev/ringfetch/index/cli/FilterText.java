package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Field;
import dev.ringfetch.index.client.Filter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The parser of the text of a filter: comparisons of fields, joined by {@code and}, {@code or},
 * {@code not} and parentheses, such as {@code value.int32(8) >= 5 and key(0,3) = 'de:'}.
 */
final class FilterText {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s*('(?:[^']|'')*'|[-+]?[0-9][0-9A-Za-z.+-]*|[a-z][a-z0-9.]*|<=|>=|!=|[=<>(),])");

  private final List<String> tokens = new ArrayList<>();
  private int next;

  /** A field and the translation of what it is compared with. */
  private record Operand<T>(Field<T> field, Function<String, T> parser) {
    Filter compared(String relation, String text) {
      final T operand = parser.apply(text);
      return switch (relation) {
        case "=" -> field.is(operand);
        case "!=" -> field.isNot(operand);
        case "<" -> field.lessThan(operand);
        case "<=" -> field.atMost(operand);
        case ">" -> field.greaterThan(operand);
        case ">=" -> field.atLeast(operand);
        default -> throw new IllegalArgumentException("'" + relation + "' compares nothing");
      };
    }
  }

  private FilterText(String text) {
    final Matcher matcher = TOKEN.matcher(text);
    int end = 0;
    while (end < text.length()) {
      if (!matcher.find(end) || matcher.start() != end) {
        throw new IllegalArgumentException("'" + text.substring(end) + "' is not understood");
      }
      tokens.add(matcher.group(1));
      end = matcher.end();
    }
  }

  /** The converter of an option. */
  static final class Converter implements ITypeConverter<Filter> {
    @Override
    public Filter convert(String text) {
      try {
        return parse(text);
      } catch (IllegalArgumentException | IllegalStateException e) {
        throw new TypeConversionException(
            "not a filter: " + e.getMessage() + "; one is value.int32(8) >= 5");
      }
    }
  }

  /**
   * The filter of a text.
   *
   * @throws IllegalArgumentException if it is none; the message says where
   */
  static Filter parse(String text) {
    final FilterText parser = new FilterText(text.strip());
    final Filter filter = parser.any();
    if (parser.next < parser.tokens.size()) {
      throw new IllegalArgumentException("'" + parser.peek() + "' is behind its end");
    }
    return filter;
  }

  private String peek() {
    return next < tokens.size() ? tokens.get(next) : "";
  }

  private String take() {
    final String token = peek();
    if (token.isEmpty()) {
      throw new IllegalArgumentException("it ends too early");
    }
    next++;
    return token;
  }

  private boolean takes(String token) {
    final boolean is = peek().equals(token);
    next += is ? 1 : 0;
    return is;
  }

  private void expect(String token) {
    if (!takes(token)) {
      throw new IllegalArgumentException("'" + token + "' is missing before '" + peek() + "'");
    }
  }

  private Filter any() {
    Filter filter = all();
    while (takes("or")) {
      filter = filter.or(all());
    }
    return filter;
  }

  private Filter all() {
    Filter filter = one();
    while (takes("and")) {
      filter = filter.and(one());
    }
    return filter;
  }

  private Filter one() {
    if (takes("not")) {
      return one().negate();
    }
    if (takes("(")) {
      final Filter filter = any();
      expect(")");
      return filter;
    }
    final Operand<?> operand = operand(take());
    return operand.compared(take(), take());
  }

  private Operand<?> operand(String name) {
    if (name.equals("version")) {
      return new Operand<>(Field.version(), FilterText::integer);
    }
    final int dot = name.indexOf('.');
    final String type = dot < 0 ? "" : name.substring(dot + 1);
    final Field<ByteString> bytes =
        switch (dot < 0 ? name : name.substring(0, dot)) {
          case "key" -> Field.key();
          case "value" -> Field.value();
          case "located" -> Field.located();
          default -> throw new IllegalArgumentException("'" + name + "' is no field");
        };
    final List<Integer> numbers = numbers();
    final int offset = numbers.isEmpty() ? 0 : numbers.get(0);
    if (type.isEmpty()) {
      return new Operand<>(
          numbers.isEmpty() ? bytes : bytes.bytes(offset, second(numbers)), FilterText::bytes);
    }
    if (numbers.size() > 1 && !type.startsWith("unsigned")) {
      throw new IllegalArgumentException("(offset) is all that " + name + " takes");
    }
    final boolean bigEndian = type.endsWith("be");
    return switch (bigEndian ? type.substring(0, type.length() - 2) : type) {
      case "int32" -> integer(bytes.int32(offset), bigEndian);
      case "int64" -> integer(bytes.int64(offset), bigEndian);
      case "counter" -> integer(bytes.counter(offset), bigEndian);
      case "unsigned" -> integer(bytes.unsigned(offset, second(numbers)), bigEndian);
      case "float32" -> floating(bytes.float32(offset), bigEndian);
      case "float64" -> floating(bytes.float64(offset), bigEndian);
      default -> throw new IllegalArgumentException("'" + type + "' is no type of a field");
    };
  }

  private static int second(List<Integer> numbers) {
    if (numbers.size() != 2) {
      throw new IllegalArgumentException("a field has two numbers here: (offset,length)");
    }
    return numbers.get(1);
  }

  private List<Integer> numbers() {
    final List<Integer> numbers = new ArrayList<>();
    if (takes("(")) {
      do {
        final String text = take();
        final long number = integer(text);
        if (number < 0 || number > Integer.MAX_VALUE) {
          throw new IllegalArgumentException("'" + text + "' is no offset or length");
        }
        numbers.add((int) number);
      } while (takes(","));
      expect(")");
    }
    return numbers;
  }

  private static Operand<Long> integer(Field<Long> field, boolean bigEndian) {
    return new Operand<>(bigEndian ? field.bigEndian() : field, FilterText::integer);
  }

  private static Operand<Double> floating(Field<Double> field, boolean bigEndian) {
    return new Operand<>(bigEndian ? field.bigEndian() : field, Double::valueOf);
  }

  private static Long integer(String text) {
    try {
      return text.startsWith("0x") ? Long.parseLong(text.substring(2), 16) : Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' is no whole number of 64 bits", e);
    }
  }

  private static ByteString bytes(String text) {
    if (text.startsWith("'")) {
      return ByteString.copyFromUtf8(text.substring(1, text.length() - 1).replace("''", "'"));
    }
    if (!text.toLowerCase(Locale.ROOT).startsWith("0x")) {
      throw new IllegalArgumentException(text + " is neither 'text' nor bytes as 0x00ff");
    }
    return ByteString.copyFrom(HexFormat.of().parseHex(text.substring(2)));
  }
}
