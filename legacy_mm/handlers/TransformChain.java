/** The transforms of one flow, as Connect's worker runs them on what MirrorSourceTask makes of a record. */
final class TransformChain {
  private static final long NO_TIME = -1, LEAST_DELAY = 300;
  private static final int THROWN = 1, TOLERATED = 3, STOPPED = 4;

  private final Map names;
  private final String cluster;
  private final boolean tolerates, logs, logsRecords;
  private final long retryTimeout, longestDelay;
  private final String task, made;
  private final ArrayList stages = new ArrayList();
  private final Converter keys, values;
  private final HeaderConverter headers;
  private boolean stopping;

  /** Takes the properties, a map of source topics to their names at the target, and the jars of each plug-in. */
  TransformChain(List given, ClassLoader loader) {
    Thread.currentThread().setContextClassLoader(loader);
    ClassLoader[] plugins = PluginLoader.of((List) given.get(2), loader);
    Map properties = (Map) given.get(0);
    this.names = (Map) given.get(1);
    this.cluster = (String) properties.get("source.cluster.alias");
    this.tolerates = "all".equals(properties.get("errors.tolerance"));
    this.logs = Boolean.parseBoolean((String) properties.get("errors.log.enable"));
    this.logsRecords = Boolean.parseBoolean((String) properties.get("errors.log.include.messages"));
    this.retryTimeout = Long.parseLong((String) properties.get("errors.retry.timeout"));
    this.longestDelay = Long.parseLong((String) properties.get("errors.retry.delay.max.ms"));
    this.task = (String) properties.get("name");
    String[] aliases = ((String) properties.get("transforms")).split(",");
    for (int i = 0; i < aliases.length; i++) {
      try {
        this.stages.add(new Stage(properties, aliases[i], plugins));
      } catch (Throwable error) {
        throw new TransformFailure(called(properties, "transforms." + aliases[i]), error, "");
      }
    }
    this.made = " (what transforms." + aliases[aliases.length - 1] + " made)";
    try {
      this.keys = (Converter) made(properties, "key.converter", plugins);
      this.keys.configure(behind(properties, "key.converter."), true);
      this.values = (Converter) made(properties, "value.converter", plugins);
      this.values.configure(behind(properties, "value.converter."), false);
      this.headers = (HeaderConverter) made(properties, "header.converter", plugins);
      Map settings = behind(properties, "header.converter.");
      settings.put("converter.type", "header");
      this.headers.configure(settings);
    } catch (Throwable error) {
      throw new TransformFailure("a converter", error, "");
    }
  }

  /** What is to become of a record on which this was thrown. */
  int failure(Throwable error) {
    if (error instanceof Stopped) return STOPPED;
    boolean tolerable = error instanceof TransformFailure && error.getCause() instanceof Exception;
    return this.tolerates && tolerable ? TOLERATED : THROWN;
  }

  /** Ends a wait before the next try, from any thread. */
  synchronized void stop() {
    this.stopping = true;
    this.notifyAll();
  }

  /** Lets transforms and predicates give back what they hold; as in Connect, none hinders the others. */
  void close() {
    for (int i = 0; i < this.stages.size(); i++) {
      Stage stage = (Stage) this.stages.get(i);
      close(stage.transformation);
      close(stage.predicate);
    }
    close(this.headers);
  }

  private static void close(AutoCloseable held) {
    try {
      if (held != null) held.close();
    } catch (Throwable error) {
      System.err.println("Failed to close " + held.getClass().getName() + ": " + error);
    }
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
      made = ((Stage) this.stages.get(i)).apply(made, record);
    }
    return made == null ? Collections.EMPTY_LIST : Collections.singletonList(this.converted(made, record));
  }

  /** Bytes stay as they are, whatever the converter: it is for what a transform has made of them. */
  private ProducerRecord converted(final SourceRecord record, SourceRecord source) {
    final String topic = record.topic();
    final RecordHeaders headers = (RecordHeaders) new Work("header.converter" + this.made, "HEADER_CONVERTER", this.headers) {
      Object once() throws Throwable {
        RecordHeaders converted = new RecordHeaders();
        for (java.util.Iterator each = record.headers().iterator(); each.hasNext();) {
          Header header = (Header) each.next();
          converted.add(header.key(), areBytes(header.schema(), header.value()) ? (byte[]) header.value()
              : TransformChain.this.headers.fromConnectHeader(topic, header.key(), header.schema(), header.value()));
        }
        return converted;
      }
    }.done(source);
    byte[] key = areBytes(record.keySchema(), record.key()) ? (byte[]) record.key()
        : (byte[]) new Work("key.converter" + this.made, "KEY_CONVERTER", this.keys) {
          Object once() throws Throwable {
            return keys.fromConnectData(topic, headers, record.keySchema(), record.key());
          }
        }.done(source);
    byte[] value = areBytes(record.valueSchema(), record.value()) ? (byte[]) record.value()
        : (byte[]) new Work("value.converter" + this.made, "VALUE_CONVERTER", this.values) {
          Object once() throws Throwable {
            return values.fromConnectData(topic, headers, record.valueSchema(), record.value());
          }
        }.done(source);
    Long time = record.timestamp();
    if (time != null && time.longValue() == NO_TIME) time = null;
    try {
      return new ProducerRecord(topic, record.kafkaPartition(), time, key, value, headers);
    } catch (IllegalArgumentException error) {
      throw new IllegalArgumentException(this.made.substring(2, this.made.length() - 1) + ": " + error);
    }
  }

  private static boolean areBytes(Schema schema, Object value) {
    return (schema == null || schema.type() == Schema.Type.BYTES) && (value == null || value instanceof byte[]);
  }

  private static Object made(Map properties, String key, ClassLoader[] plugins) throws Throwable {
    String name = (String) properties.get(key);
    Class found = Class.forName(name, true, PluginLoader.with(name, plugins));
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

  /** A piece of work on a record, which Connect repeats while it throws what may pass. */
  private abstract class Work {
    private final String what, stage;
    private final Object by;

    Work(String what, String stage, Object by) {
      this.what = what;
      this.stage = stage;
      this.by = by;
    }

    abstract Object once() throws Throwable;

    Object done(SourceRecord source) {
      long deadline = retryTimeout < 0 ? Long.MAX_VALUE : retryTimeout == 0 ? 0 : System.currentTimeMillis() + retryTimeout;
      for (int tries = 1;; tries++) {
        try {
          return this.once();
        } catch (Throwable error) {
          if (!(error instanceof RetriableException) || System.currentTimeMillis() >= deadline) {
            throw new TransformFailure(this.what, error, this.logged(error, source));
          }
        }
        this.rest(tries, deadline);
      }
    }

    private void rest(int tries, long deadline) {
      long delay = LEAST_DELAY << Math.min(tries - 1, 30);
      if (delay > longestDelay) delay = (long) (Math.random() * longestDelay);
      delay = Math.min(delay, deadline - System.currentTimeMillis());
      synchronized (TransformChain.this) {
        try {
          if (!stopping && delay > 0) TransformChain.this.wait(delay);
        } catch (InterruptedException error) {
          throw new Stopped();
        }
        if (stopping) throw new Stopped();
      }
    }

    /** The words of Connect's own line, which `errors.log.enable` asks for. */
    private String logged(Throwable error, SourceRecord source) {
      if (!logs || !(error instanceof Exception)) return "";
      return "; Error encountered in task " + task + ". Executing stage '" + this.stage + "' with class '"
          + this.by.getClass().getName() + "'" + (logsRecords ? ", where source record is = " + source : "") + ".";
    }
  }

  private final class Stage {
    final String alias;
    private final String name;
    private final Transformation transformation;
    private final Predicate predicate;
    private final boolean negate;

    Stage(Map properties, String alias, ClassLoader[] plugins) throws Throwable {
      String prefix = "transforms." + alias;
      this.alias = alias;
      this.name = called(properties, prefix);
      this.transformation = (Transformation) made(properties, prefix + ".type", plugins);
      Map settings = behind(properties, prefix + ".");
      Object asked = settings.remove("predicate"), negate = settings.remove("negate");
      check(this.transformation.config(), settings);
      this.transformation.configure(settings);
      this.negate = negate != null && Boolean.parseBoolean((String) negate);
      if (asked == null) {
        this.predicate = null;
      } else {
        Map conditions = behind(properties, "predicates." + asked + ".");
        this.predicate = (Predicate) made(properties, "predicates." + asked + ".type", plugins);
        check(this.predicate.config(), conditions);
        this.predicate.configure(conditions);
      }
    }

    /** Connect looks at the settings before it hands them on. */
    private static void check(ConfigDef known, Map settings) {
      if (known == null) throw new IllegalStateException("config() answered null");
      known.parse(settings);
    }

    SourceRecord apply(final SourceRecord record, SourceRecord source) {
      return (SourceRecord) new Work(this.name, "TRANSFORMATION", this.transformation) {
        Object once() throws Throwable {
          if (predicate != null && predicate.test(record) == negate) return record;
          return (SourceRecord) transformation.apply(record);
        }
      }.done(source);
    }
  }
}

/** The classes of one plug-in: its own before those that all share, as Connect's PluginClassLoader has them. */
final class PluginLoader extends java.net.URLClassLoader {
  private static final java.util.regex.Pattern SHARED = java.util.regex.Pattern.compile(
      "(?:java|javax|org\\.ietf\\.jgss|org\\.omg|org\\.w3c\\.dom|org\\.xml\\.sax|org\\.apache\\.kafka|org\\.slf4j)\\..*");
  /** Plug-ins of Kafka itself may be in a plug-in, too. */
  private static final java.util.regex.Pattern OWN = java.util.regex.Pattern.compile(
      "org\\.apache\\.kafka\\.(?:connect\\.(?:transforms\\.(?!Transformation|predicates\\.Predicate$).*|json\\..*|file\\..*"
          + "|mirror\\..*|converters\\..*|storage\\.StringConverter|storage\\.SimpleHeaderConverter)"
          + "|common\\.config\\.provider\\.(?!ConfigProvider$).*)");

  private PluginLoader(java.net.URL[] jars, ClassLoader parent) {
    super(jars, parent);
  }

  /** The loaders of plug-ins, and last the one that they share. */
  static ClassLoader[] of(List plugins, ClassLoader shared) {
    ClassLoader[] made = new ClassLoader[plugins.size() + 1];
    made[plugins.size()] = shared;
    try {
      for (int i = 0; i < plugins.size(); i++) {
        List jars = (List) plugins.get(i);
        java.net.URL[] urls = new java.net.URL[jars.size()];
        for (int j = 0; j < urls.length; j++) urls[j] = new java.io.File((String) jars.get(j)).toURI().toURL();
        made[i] = new PluginLoader(urls, shared);
      }
    } catch (java.net.MalformedURLException error) {
      throw new IllegalStateException(error);
    }
    return made;
  }

  /** The loader of the plug-in that has this class, else the shared one. */
  static ClassLoader with(String name, ClassLoader[] plugins) {
    String file = name.replace('.', '/') + ".class";
    for (int i = 0; i < plugins.length - 1; i++) {
      if (isOwn(name) && ((PluginLoader) plugins[i]).findResource(file) != null) return plugins[i];
    }
    return plugins[plugins.length - 1];
  }

  static boolean isOwn(String name) {
    return !SHARED.matcher(name).matches() || OWN.matcher(name).matches();
  }

  protected Class loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (this.getClassLoadingLock(name)) {
      Class found = this.findLoadedClass(name);
      if (found == null && isOwn(name)) {
        try {
          found = this.findClass(name);
        } catch (ClassNotFoundException error) {
          found = null;
        }
      }
      if (found == null) found = super.loadClass(name, false);
      if (resolve) this.resolveClass(found);
      return found;
    }
  }

  public java.net.URL getResource(String name) {
    java.net.URL own = this.findResource(name);
    return own == null ? super.getResource(name) : own;
  }

  public java.util.Enumeration getResources(String name) throws java.io.IOException {
    ArrayList found = Collections.list(this.findResources(name));
    found.addAll(Collections.list(this.getParent().getResources(name)));
    return Collections.enumeration(found);
  }
}

/** A stop has ended the wait for another try. */
final class Stopped extends RuntimeException {
}

/** What failed, and why. */
final class TransformFailure extends RuntimeException {
  TransformFailure(String what, Throwable cause, String logged) {
    super(what + ": " + root(cause) + logged, root(cause));
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
