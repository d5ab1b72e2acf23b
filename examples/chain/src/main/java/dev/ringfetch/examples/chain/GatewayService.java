package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.chain.v1.GatewayGrpc;
import dev.ringfetch.examples.chain.v1.PriceReply;
import dev.ringfetch.examples.chain.v1.PriceRequest;
import dev.ringfetch.examples.chain.v1.PricingGrpc;
import dev.ringfetch.examples.chain.v1.QuoteReply;
import dev.ringfetch.examples.chain.v1.QuoteRequest;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;

/** The service that shoppers call. Nothing here knows of Ringfetch. */
final class GatewayService extends GatewayGrpc.GatewayImplBase {
  private final PricingGrpc.PricingBlockingStub pricing;

  GatewayService(Channel channel) {
    pricing = PricingGrpc.newBlockingStub(channel);
  }

  @Override
  public void quote(QuoteRequest request, StreamObserver<QuoteReply> replies) {
    final PriceReply price;
    try {
      // The call runs in the context of this one: it has its deadline, ends with it, is of its
      // trace.
      price =
          pricing.price(
              PriceRequest.newBuilder()
                  .setArticle(request.getArticle())
                  .setPieces(request.getPieces())
                  .setDelayMs(request.getDelayMs())
                  .build());
    } catch (StatusRuntimeException e) {
      replies.onError(e);
      return;
    }
    replies.onNext(
        QuoteReply.newBuilder()
            .setCents(price.getCents())
            .setDeliverable(price.getAvailable() >= request.getPieces())
            .setSheet(price.getSheet())
            .build());
    replies.onCompleted();
  }
}
