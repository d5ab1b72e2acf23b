package dev.ringfetch.index.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.google.protobuf.ByteString;
import java.io.BufferedOutputStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;

/**
 * The result of a command: lines of text, lines of JSON, or bytes, in UTF-8 and buffered. Its
 * methods throw {@link UncheckedIOException} where the output cannot be written. Used by one
 * thread.
 */
final class Output {
  private static final int BUFFER = 1 << 16;
  private static final JsonFactory JSON = new JsonFactory();

  private final OutputStream stream;
  private final Writer writer;
  private JsonGenerator generator; // made with the first object

  Output(OutputStream stream) {
    this.stream = new BufferedOutputStream(stream, BUFFER);
    this.writer = new BufferedWriter(new OutputStreamWriter(this.stream, StandardCharsets.UTF_8));
  }

  private interface Step {
    void run() throws IOException;
  }

  private static void run(Step step) {
    try {
      step.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a line. */
  void line(String text) {
    run(
        () -> {
          writer.write(text);
          writer.write('\n');
        });
  }

  /** Writes bytes as they are. */
  void bytes(ByteString bytes) {
    run(
        () -> {
          writer.flush();
          bytes.writeTo(stream);
        });
  }

  /** Where CSV is written. */
  Writer writer() {
    return writer;
  }

  /** Begins a line of JSON, which is one object. */
  Json object() {
    run(
        () -> {
          if (generator == null) {
            generator =
                JSON.createGenerator(writer)
                    .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
                    .disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM)
                    .setRootValueSeparator(null);
          }
          generator.writeStartObject();
        });
    return new Json();
  }

  /** The object of a line, which {@link #end} completes. */
  final class Json {
    private Json() {}

    /** A text. */
    Json text(String field, String text) {
      run(() -> generator.writeStringField(field, text));
      return this;
    }

    /** A number. */
    Json number(String field, long number) {
      run(() -> generator.writeNumberField(field, number));
      return this;
    }

    /** A number with a fraction. */
    Json number(String field, double number) {
      run(() -> generator.writeNumberField(field, Math.round(number * 1e3) / 1e3));
      return this;
    }

    /** A time in UTC, as ISO 8601 has it; nothing if there is none. */
    Json time(String field, Optional<Instant> time) {
      return time.isEmpty() ? this : text(field, time.get().toString());
    }

    /** True or false. */
    Json flag(String field, boolean flag) {
      run(() -> generator.writeBooleanField(field, flag));
      return this;
    }

    /** A key or a value: text or number; base64, and the field says so, where it is neither. */
    Json data(String field, DataType type, ByteString bytes) {
      run(
          () -> {
            final Optional<String> text = type.print(bytes);
            if (text.isEmpty()) {
              generator.writeStringField(
                  field + EntryReader.BASE64_SUFFIX,
                  Base64.getEncoder().encodeToString(bytes.toByteArray()));
            } else if (type == DataType.LONG) {
              generator.writeNumberField(field, Long.parseLong(text.get()));
            } else {
              generator.writeStringField(field, text.get());
            }
          });
      return this;
    }

    /** Completes the line. */
    void end() {
      run(
          () -> {
            generator.writeEndObject();
            generator.writeRaw('\n');
            generator.flush();
          });
    }
  }

  /**
   * Writes what is buffered, at the end of a command.
   *
   * @param changed whether the command's work is a change, and the output only says that it is done
   * @throws CommandFailure that says so, if the output of a change cannot be written
   * @throws UncheckedIOException if the output is the work, or its reader is gone
   */
  void complete(boolean changed) {
    try {
      flush();
    } catch (UncheckedIOException e) {
      final FailureReport report = FailureReport.of(e, null, "");
      if (!changed || report.exitCode() == ExitCode.BROKEN_PIPE) {
        throw e;
      }
      throw new CommandFailure(
          report.exitCode(), "done, but the output cannot be written: " + report.line(), e);
    }
  }

  /** Writes what is buffered. */
  void flush() {
    run(
        () -> {
          writer.flush();
          stream.flush();
        });
  }
}
