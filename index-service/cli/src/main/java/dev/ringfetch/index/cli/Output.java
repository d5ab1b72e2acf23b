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
 * methods throw {@link UncheckedIOException} if the output cannot be written. Used by one thread.
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

  /** The writer for CSV. */
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

  /** The JSON object of a line; {@link #end} completes it. */
  final class Json {
    private Json() {}

    /** Adds a text. */
    Json text(String field, String text) {
      run(() -> generator.writeStringField(field, text));
      return this;
    }

    /** Adds a number. */
    Json number(String field, long number) {
      run(() -> generator.writeNumberField(field, number));
      return this;
    }

    /** Adds a number with a fraction. */
    Json number(String field, double number) {
      run(() -> generator.writeNumberField(field, Math.round(number * 1e3) / 1e3));
      return this;
    }

    /** Adds a time in UTC in the format of ISO 8601; nothing if it is empty. */
    Json time(String field, Optional<Instant> time) {
      return time.isEmpty() ? this : text(field, time.get().toString());
    }

    /** Adds true or false. */
    Json flag(String field, boolean flag) {
      run(() -> generator.writeBooleanField(field, flag));
      return this;
    }

    /**
     * Adds a key or a value: as text or number of its type, else in base64 under a name with {@link
     * EntryReader#BASE64_SUFFIX}.
     */
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

    /** Adds a value that is written as JSON. */
    Json raw(String field, String json) {
      run(
          () -> {
            generator.writeFieldName(field);
            generator.writeRawValue(json);
          });
      return this;
    }

    /** Begins an object in this one; {@link #close} ends it. */
    Json begin(String field) {
      run(() -> generator.writeObjectFieldStart(field));
      return this;
    }

    /** Ends an object in this one. */
    Json close() {
      run(() -> generator.writeEndObject());
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
   * Writes the buffered output at the end of a command.
   *
   * @param changed whether the command's result is a change, and its output only reports it
   * @throws CommandFailure if the report of a change cannot be written; it says that the change was
   *     made
   * @throws UncheckedIOException if the output is the command's result, or its reader is gone
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

  /** Writes the buffered output. */
  void flush() {
    run(
        () -> {
          writer.flush();
          stream.flush();
        });
  }
}
