package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;

/** The index with a {@code Get} that reports its stages. For one thread. */
final class SplitIndex extends IndexGrpc.IndexImplBase {
  private final IndexService index = new IndexService(new Indexes());
  private final Split split;
  private final MethodDescriptor<GetRequest, GetResponse> get;
  private final Responses responses = new Responses();

  SplitIndex(Split split) {
    this.split = split;
    final MethodDescriptor<GetRequest, GetResponse> plain = IndexGrpc.getGetMethod();
    this.get =
        plain.toBuilder()
            .setRequestMarshaller(
                new SplitMarshaller<>(
                    plain.getRequestMarshaller(),
                    split,
                    Stage.start,
                    Stage.marshal,
                    Stage.dispatch,
                    Stage.parse))
            .setResponseMarshaller(
                new SplitMarshaller<>(
                    plain.getResponseMarshaller(),
                    split,
                    Stage.answer,
                    Stage.answerMarshal,
                    Stage.receive,
                    Stage.answerParse))
            .build();
  }

  /** {@code Get}, as both sides are to know it. */
  MethodDescriptor<GetRequest, GetResponse> getMethod() {
    return get;
  }

  /** The methods of a server's method table. */
  List<ServerMethodDefinition<?, ?>> methods() {
    final ServerServiceDefinition service = bindService();
    final List<ServerMethodDefinition<?, ?>> methods = new ArrayList<>();
    for (final ServerMethodDefinition<?, ?> method : service.getMethods()) {
      methods.add(isGet(method.getMethodDescriptor()) ? splitGet(service) : method);
    }
    return methods;
  }

  private boolean isGet(MethodDescriptor<?, ?> method) {
    return method.getFullMethodName().equals(get.getFullMethodName());
  }

  private ServerMethodDefinition<GetRequest, GetResponse> splitGet(
      ServerServiceDefinition service) {
    @SuppressWarnings("unchecked") // the name of a method says of what types it is
    final ServerMethodDefinition<GetRequest, GetResponse> plain =
        (ServerMethodDefinition<GetRequest, GetResponse>)
            service.getMethod(get.getFullMethodName());
    return ServerMethodDefinition.create(get, plain.getServerCallHandler());
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> observer) {
    responses.observer = observer;
    index.get(request, responses);
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> observer) {
    index.put(request, observer);
  }

  /** Hears the handler answer. */
  private final class Responses implements StreamObserver<GetResponse> {
    private StreamObserver<GetResponse> observer;

    @Override
    public void onNext(GetResponse response) {
      split.ended(Stage.handler);
      observer.onNext(response);
    }

    @Override
    public void onError(Throwable failure) {
      observer.onError(failure);
    }

    @Override
    public void onCompleted() {
      observer.onCompleted();
    }
  }
}
