# Stands for Homebrew as far as our formula asks for it: reads the formula as for SYSTEM and PROCESSOR, prints
# what it says, and installs it from the current folder, which is that of the archive, into PREFIX. With a
# fifth argument it runs the formula's test.
#
#   ruby homebrew.rb FORMULA SYSTEM PROCESSOR PREFIX [test]
require "fileutils"
require "json"

FORMULA, *MACHINE, PREFIX, TEST = ARGV.values_at(0, 1, 2, 3, 4)

# A folder of the prefix. What is installed is moved there, under its name or another.
class Place
  def initialize(folder) = @folder = File.join(PREFIX, folder)

  def to_s = @folder

  def install(*files)
    FileUtils.mkdir_p(@folder)
    files.each do |file|
      (file.is_a?(Hash) ? file : { file => File.basename(file) }).each { |from, to| FileUtils.mv(from, File.join(@folder, to)) }
    end
  end
end

class Formula
  class << self
    attr_reader :said, :trial

    %w[desc homepage version license url sha256].each do |name|
      define_method(name) do |value|
        @said ||= {}
        raise "#{name} is said twice" if @said.key?(name)

        @said[name] = value
      end
    end

    { on_macos: "macos", on_linux: "linux", on_intel: "intel", on_arm: "arm" }.each do |name, machine|
      define_method(name) { |&block| block.call if MACHINE.include?(machine) }
    end

    def test(&block) = @trial = block
  end

  {
    bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d", zsh_completion: "share/zsh/site-functions",
    fish_completion: "share/fish/vendor_completions.d", doc: "share/doc/drift-detector"
  }.each { |name, folder| define_method(name) { Place.new(folder) } }

  def shell_output(command)
    output = `#{command}`
    raise "#{command}: #{$?}" unless $?.success?

    output
  end

  def assert_match(want, got) = (raise "#{got} has no #{want}" unless got.include?(want))
end

load FORMULA
formula = DriftDetector.new
formula.install
formula.instance_exec(&DriftDetector.trial) if TEST
puts DriftDetector.said.to_json
