package dev.ringfetch.hunt;

/**
 * The number of rounds that a test makes, or of seeds that it draws from: few in {@code mvn
 * verify}, all of them, or several times as many, in a hunt ({@code .ci/hunt}), which sets {@code
 * ringfetch.hunt}.
 */
public final class Rounds {
  /** How many times as much a hunt does; 0 where none is on. */
  public static final int HUNT = Integer.getInteger("ringfetch.hunt", 0);

  private Rounds() {}

  /** So many for each time of a hunt, or only a few. */
  public static int of(int all, int few) {
    return HUNT == 0 ? few : all * HUNT;
  }

  /** So many in a hunt, however many times as much it does; or only a few. */
  public static int once(int all, int few) {
    return HUNT == 0 ? few : all;
  }
}
