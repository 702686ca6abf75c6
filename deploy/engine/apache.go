package engine

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var (
	//go:embed kafka/server.properties
	kafkaProperties         string
	kafkaPropertiesTemplate = template.Must(template.New("server.properties").
				Funcs(template.FuncMap{"lower": strings.ToLower}).Parse(kafkaProperties))

	//go:embed kafka/log4j2.properties
	kafkaLogging []byte
)

// ApacheKafkaConfig configures an Apache Kafka.
type ApacheKafkaConfig struct {
	Dir        string // of all its files; created
	Host       string // IP address that it listens on; empty: 127.0.0.1
	Logs       string // directory of its log; Dir/log if empty
	Listeners  []KafkaListener
	Properties []string // name=value, instead of the defaults
	Log        *slog.Logger
}

// A KafkaListener is an additional listener for clients.
type KafkaListener struct {
	Name       string   // in upper case, such as SECURED
	Protocol   string   // SSL, SASL_SSL or SASL_PLAINTEXT
	Properties []string // name=value, without listener.name.<name>. before it
}

// ApacheKafka is a running Apache Kafka, broker and controller in one JVM, a child of this process. It acknowledges
// from the page cache: a killed process loses nothing, a crash of the machine may.
type ApacheKafka struct {
	*process
	address   string
	listeners map[string]string
}

// StartApacheKafka starts the Apache Kafka of a directory, which it formats the first time, and waits until the broker
// takes requests. It creates no topic by itself.
func StartApacheKafka(ctx context.Context, cfg ApacheKafkaConfig) (*ApacheKafka, error) {
	begin := time.Now()
	k, err := startApacheKafka(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("start apache kafka: %w", err)
	}
	logReady(cfg.Log, "apache kafka", k.address, begin, "pid", k.PID())
	return k, nil
}

func startApacheKafka(ctx context.Context, cfg ApacheKafkaConfig) (*ApacheKafka, error) {
	libs, err := apacheLibs()
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("java"); err != nil {
		const next = "apt-get install openjdk-17-jre-headless"
		return nil, fmt.Errorf("%w; Apache Kafka needs Java 17 (Debian, Ubuntu: %s)", err, next)
	}
	lock, err := lockDirs(ctx, &cfg.Dir, &cfg.Logs)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	cfg.Host = cmp.Or(cfg.Host, loopback)
	broker, err := storedPort(cfg.Host, cfg.Dir, "kafka", 0)
	if err != nil {
		return nil, err
	}
	controller, err := storedPort(cfg.Host, cfg.Dir, "kafka-controller", 0)
	if err != nil {
		return nil, err
	}
	k := &ApacheKafka{address: address(cfg.Host, broker), listeners: map[string]string{}}
	for _, l := range cfg.Listeners {
		port, err := storedPort(cfg.Host, cfg.Dir, "kafka-"+strings.ToLower(l.Name), 0)
		if err != nil {
			return nil, err
		}
		k.listeners[l.Name] = address(cfg.Host, port)
	}
	err = prepareApacheKafka(cfg, libs, struct {
		Broker, Controller string
		Listeners          []KafkaListener
		Addresses          map[string]string
		Properties         []string
	}{k.address, address(cfg.Host, controller), cfg.Listeners, k.listeners, cfg.Properties})
	if err != nil {
		return nil, err
	}
	server := javaCommand(cfg.Dir, libs, "-Xms256m", "-Xmx512m", "-XX:+UseG1GC", "kafka.Kafka", "server.properties")
	if k.process, err = startProcess("kafka", cfg.Logs, lock, syscall.SIGKILL, server); err != nil {
		return nil, err
	}
	if err := k.awaitReady(ctx, func(ctx context.Context) error { return pingKafka(ctx, k.address) }); err != nil {
		return nil, err
	}
	return k, nil
}

// Brokers are the addresses to bootstrap from.
func (k *ApacheKafka) Brokers() []string { return []string{k.address} }

// Listener is the address to bootstrap from by another listener.
func (k *ApacheKafka) Listener(name string) string { return k.listeners[name] }

// Stop ends the broker after a flush. An ApacheKafka on the same Dir has the same address again.
func (k *ApacheKafka) Stop(ctx context.Context) error {
	return k.stop(ctx, func() error { return k.signal(syscall.SIGTERM) })
}

// clusterID is any UUID in base64; every cluster of one broker may have the same.
const clusterID = "c2NvcGUtYnJva2VyLTAwMQ"

// prepareApacheKafka writes the configuration, and formats a new log: the first time, or after its disk was lost while
// the controller's log (metadata.log.dir) was not.
func prepareApacheKafka(cfg ApacheKafkaConfig, libs string, properties any) error {
	var text bytes.Buffer
	if err := kafkaPropertiesTemplate.Execute(&text, properties); err != nil {
		return err
	}
	err := errors.Join(
		os.WriteFile(filepath.Join(cfg.Dir, "server.properties"), text.Bytes(), 0o600),
		os.WriteFile(filepath.Join(cfg.Dir, "log4j2.properties"), kafkaLogging, 0o600))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "data", "meta.properties")); err == nil {
		return nil
	}
	return runTool("format of the log", javaCommand(cfg.Dir, libs, "-XX:TieredStopAtLevel=1",
		"kafka.tools.StorageTool", "format", "--ignore-formatted", "-t", clusterID, "-c", "server.properties"))
}

func javaCommand(dir, libs string, args ...string) *exec.Cmd {
	args = append([]string{
		"-cp", filepath.Join(libs, "*"), "-Dlog4j2.configurationFile=" + filepath.Join(dir, "log4j2.properties"),
	}, args...)
	cmd := exec.Command("java", args...)
	cmd.Dir = dir
	return cmd
}

// pingKafka returns nil when the broker at address lists itself as alive. Its port is
// open some seconds earlier when it was killed before.
func pingKafka(ctx context.Context, address string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RequestRetries(0), kgo.DialTimeout(time.Second))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	answer, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client)
	if err != nil {
		return err
	}
	if len(answer.Brokers) == 0 {
		return errors.New("the broker is not registered yet")
	}
	return nil
}
