/** The transforms of one flow, as Connect's worker runs them on what MirrorSourceTask makes of a record. */
final class TransformChain {
  private static final long NO_TIME = -1;

  private final Map names;
  private final String cluster;
  private final boolean tolerates;
  private final ArrayList stages = new ArrayList();
  private final Converter keys, values;
  private final HeaderConverter headers;

  /** Takes two maps: the properties, and source topic -> its name at the target. */
  TransformChain(List given, ClassLoader loader) {
    Thread.currentThread().setContextClassLoader(loader);
    Map properties = (Map) given.get(0);
    this.names = (Map) given.get(1);
    this.cluster = (String) properties.get("source.cluster.alias");
    this.tolerates = "all".equals(properties.get("errors.tolerance"));
    String[] aliases = ((String) properties.get("transforms")).split(",");
    for (int i = 0; i < aliases.length; i++) {
      try {
        this.stages.add(new Stage(properties, aliases[i], loader));
      } catch (Throwable error) {
        throw new TransformFailure(called(properties, "transforms." + aliases[i]), error);
      }
    }
    try {
      this.keys = (Converter) made(properties, "key.converter", loader);
      this.keys.configure(behind(properties, "key.converter."), true);
      this.values = (Converter) made(properties, "value.converter", loader);
      this.values.configure(behind(properties, "value.converter."), false);
      this.headers = (HeaderConverter) made(properties, "header.converter", loader);
      Map settings = behind(properties, "header.converter.");
      settings.put("converter.type", "header");
      this.headers.configure(settings);
    } catch (Throwable error) {
      throw new TransformFailure("a converter", error);
    }
  }

  boolean tolerates(Throwable error) {
    return this.tolerates && error instanceof TransformFailure && error.getCause() instanceof Exception;
  }

  SourceRecord record(
      String topic, int partition, long offset, long timestamp, byte[] key, byte[] value, ConnectHeaders headers) {
    Map place = new HashMap();
    place.put("cluster", this.cluster);
    place.put("topic", topic);
    place.put("partition", Integer.valueOf(partition));
    Map position = new HashMap();
    position.put("offset", Long.valueOf(offset));
    return new SourceRecord(place, position, (String) this.names.get(topic), Integer.valueOf(partition),
        Schema.OPTIONAL_BYTES_SCHEMA, key, Schema.BYTES_SCHEMA, value, Long.valueOf(timestamp), headers);
  }

  List handle(SourceRecord record) {
    SourceRecord made = record;
    for (int i = 0; i < this.stages.size() && made != null; i++) {
      made = ((Stage) this.stages.get(i)).apply(made);
    }
    return made == null ? Collections.EMPTY_LIST : Collections.singletonList(this.converted(made));
  }

  /** Bytes stay as they are, whatever the converter: it is for what a transform has made of them. */
  private ProducerRecord converted(SourceRecord record) {
    String topic = record.topic(), what = "header.converter";
    RecordHeaders headers = new RecordHeaders();
    byte[] key, value;
    try {
      for (java.util.Iterator each = record.headers().iterator(); each.hasNext();) {
        Header header = (Header) each.next();
        headers.add(header.key(), areBytes(header.schema(), header.value()) ? (byte[]) header.value()
            : this.headers.fromConnectHeader(topic, header.key(), header.schema(), header.value()));
      }
      what = "key.converter";
      key = areBytes(record.keySchema(), record.key()) ? (byte[]) record.key()
          : this.keys.fromConnectData(topic, headers, record.keySchema(), record.key());
      what = "value.converter";
      value = areBytes(record.valueSchema(), record.value()) ? (byte[]) record.value()
          : this.values.fromConnectData(topic, headers, record.valueSchema(), record.value());
    } catch (Throwable error) {
      throw new TransformFailure(what + " (what transforms." + this.last().alias + " made)", error);
    }
    Long time = record.timestamp();
    if (time != null && time.longValue() == NO_TIME) time = null;
    try {
      return new ProducerRecord(topic, record.kafkaPartition(), time, key, value, headers);
    } catch (IllegalArgumentException error) {
      throw new IllegalArgumentException("what transforms." + this.last().alias + " made: " + error);
    }
  }

  private Stage last() {
    return (Stage) this.stages.get(this.stages.size() - 1);
  }

  private static boolean areBytes(Schema schema, Object value) {
    return (schema == null || schema.type() == Schema.Type.BYTES) && (value == null || value instanceof byte[]);
  }

  private static Object made(Map properties, String key, ClassLoader loader) throws Throwable {
    Class found = Class.forName((String) properties.get(key), true, loader);
    return found.getConstructor(new Class[0]).newInstance(new Object[0]);
  }

  private static String called(Map properties, String prefix) {
    return prefix + " (" + properties.get(prefix + ".type") + ")";
  }

  /** The properties of this beginning, without it. */
  private static Map behind(Map properties, String prefix) {
    Map found = new HashMap();
    for (java.util.Iterator each = properties.keySet().iterator(); each.hasNext();) {
      String key = (String) each.next();
      if (key.startsWith(prefix)) found.put(key.substring(prefix.length()), properties.get(key));
    }
    return found;
  }

  private static final class Stage {
    final String alias;
    private final String name;
    private final Transformation transformation;
    private final Predicate predicate;
    private final boolean negate;

    Stage(Map properties, String alias, ClassLoader loader) throws Throwable {
      String prefix = "transforms." + alias;
      this.alias = alias;
      this.name = called(properties, prefix);
      this.transformation = (Transformation) made(properties, prefix + ".type", loader);
      Map settings = behind(properties, prefix + ".");
      Object asked = settings.remove("predicate"), negate = settings.remove("negate");
      check(this.transformation.config(), settings);
      this.transformation.configure(settings);
      this.negate = negate != null && Boolean.parseBoolean((String) negate);
      if (asked == null) {
        this.predicate = null;
      } else {
        Map conditions = behind(properties, "predicates." + asked + ".");
        this.predicate = (Predicate) made(properties, "predicates." + asked + ".type", loader);
        check(this.predicate.config(), conditions);
        this.predicate.configure(conditions);
      }
    }

    /** Connect looks at the settings before it hands them on. */
    private static void check(ConfigDef known, Map settings) {
      if (known == null) throw new IllegalStateException("config() answered null");
      known.parse(settings);
    }

    SourceRecord apply(SourceRecord record) {
      try {
        if (this.predicate != null && this.predicate.test(record) == this.negate) return record;
        return (SourceRecord) this.transformation.apply(record);
      } catch (Throwable error) {
        throw new TransformFailure(this.name, error);
      }
    }
  }
}

/** What failed, and why. */
final class TransformFailure extends RuntimeException {
  TransformFailure(String what, Throwable cause) {
    super(what + ": " + root(cause), root(cause));
  }

  public String toString() {
    return this.getMessage();
  }

  /** Without the wrapping of reflection. */
  private static Throwable root(Throwable error) {
    while (error instanceof java.lang.reflect.InvocationTargetException && error.getCause() != null) {
      error = error.getCause();
    }
    return error;
  }
}
