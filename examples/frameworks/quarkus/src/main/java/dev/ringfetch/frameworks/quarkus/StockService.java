package dev.ringfetch.frameworks.quarkus;

import dev.ringfetch.frameworks.quarkus.proto.Amount;
import dev.ringfetch.frameworks.quarkus.proto.Article;
import dev.ringfetch.frameworks.quarkus.proto.Stock;
import io.quarkus.grpc.GrpcService;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;

/** The service: of an article there are as many pieces as its name has characters. */
@GrpcService
class StockService implements Stock {
  private static Amount amount(int pieces) {
    return Amount.newBuilder()
        .setPieces(pieces)
        .setThread(Thread.currentThread().getName())
        .build();
  }

  @Override
  public Uni<Amount> find(Article article) {
    return Uni.createFrom().item(amount(article.getName().length()));
  }

  @Override
  @Blocking
  public Uni<Amount> reserve(Article article) {
    return Uni.createFrom().item(amount(article.getName().length()));
  }

  @Override
  public Multi<Amount> count(Article article) {
    return Multi.createFrom().range(1, article.getName().length() + 1).map(StockService::amount);
  }
}
