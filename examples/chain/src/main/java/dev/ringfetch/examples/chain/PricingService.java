package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.chain.v1.FindReply;
import dev.ringfetch.examples.chain.v1.FindRequest;
import dev.ringfetch.examples.chain.v1.InventoryGrpc;
import dev.ringfetch.examples.chain.v1.PriceReply;
import dev.ringfetch.examples.chain.v1.PriceRequest;
import dev.ringfetch.examples.chain.v1.PricingGrpc;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;

/** The service that knows discounts. Nothing here knows of Ringfetch. */
final class PricingService extends PricingGrpc.PricingImplBase {
  private final InventoryGrpc.InventoryBlockingStub inventory;

  PricingService(Channel channel) {
    inventory = InventoryGrpc.newBlockingStub(channel);
  }

  @Override
  public void price(PriceRequest request, StreamObserver<PriceReply> replies) {
    final FindReply found;
    try {
      found =
          inventory.find(
              FindRequest.newBuilder()
                  .setArticle(request.getArticle())
                  .setDelayMs(request.getDelayMs())
                  .build());
    } catch (StatusRuntimeException e) {
      replies.onError(e);
      return;
    }
    replies.onNext(
        PriceReply.newBuilder()
            .setCents(Stock.price(found.getCents(), request.getPieces()))
            .setAvailable(found.getAvailable())
            .setSheet(found.getSheet())
            .build());
    replies.onCompleted();
  }
}
