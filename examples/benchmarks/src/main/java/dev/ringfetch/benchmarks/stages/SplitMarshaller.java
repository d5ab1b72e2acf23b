package dev.ringfetch.benchmarks.stages;

import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.IOException;
import java.io.InputStream;

/**
 * A marshaller that reports its begin and its end. It has one stream for all messages, so that it
 * allocates nothing: for one thread.
 *
 * @param <T> type of the messages.
 */
final class SplitMarshaller<T> implements Marshaller<T> {
  private final Marshaller<T> marshaller;
  private final Split split;
  private final Stage beforeWriting;
  private final Stage writing;
  private final Stage beforeReading;
  private final Stage reading;
  private final Message message = new Message();

  SplitMarshaller(
      Marshaller<T> marshaller,
      Split split,
      Stage beforeWriting,
      Stage writing,
      Stage beforeReading,
      Stage reading) {
    this.marshaller = marshaller;
    this.split = split;
    this.beforeWriting = beforeWriting;
    this.writing = writing;
    this.beforeReading = beforeReading;
    this.reading = reading;
  }

  @Override
  public InputStream stream(T value) {
    split.ended(beforeWriting);
    message.stream = marshaller.stream(value);
    return message;
  }

  @Override
  public T parse(InputStream stream) {
    split.ended(beforeReading);
    final T value = marshaller.parse(stream);
    split.ended(reading);
    return value;
  }

  /** Of a message that knows its length, as those of protobuf do. */
  private final class Message extends InputStream implements KnownLength {
    private InputStream stream;

    @Override
    public int available() throws IOException {
      return stream.available();
    }

    @Override
    public int read() throws IOException {
      return stream.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return stream.read(target, offset, length);
    }

    @Override
    public int readNBytes(byte[] target, int offset, int length) throws IOException {
      return stream.readNBytes(target, offset, length);
    }

    @Override
    public void close() throws IOException {
      stream.close();
      split.ended(writing);
    }
  }
}
