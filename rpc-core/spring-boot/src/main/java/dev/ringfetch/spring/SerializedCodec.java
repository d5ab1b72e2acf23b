package dev.ringfetch.spring;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ConfigurableObjectInputStream;
import org.springframework.util.ClassUtils;

/**
 * The serialized form of the JDK, for values. Reading it creates objects of any class of the
 * application: the index has to be one that no stranger writes.
 */
final class SerializedCodec<T> implements Codec<T> {
  /** The application's, while Spring creates its beans. */
  private final @Nullable ClassLoader classes = ClassUtils.getDefaultClassLoader();

  @Override
  public ByteString encode(T value) {
    final ByteString.Output bytes = ByteString.newOutput();
    try (ObjectOutputStream objects = new ObjectOutputStream(bytes)) {
      objects.writeObject(value);
    } catch (IOException e) {
      throw new IllegalArgumentException(value.getClass().getName() + " cannot be serialized", e);
    }
    return bytes.toByteString();
  }

  @Override
  @SuppressWarnings("unchecked") // an index has values of one type
  public T decode(ByteString bytes) {
    try (ObjectInputStream objects = new ConfigurableObjectInputStream(bytes.newInput(), classes)) {
      return (T) objects.readObject();
    } catch (IOException | ClassNotFoundException e) {
      throw new IllegalArgumentException("value is no serialized object: " + e, e);
    }
  }
}
